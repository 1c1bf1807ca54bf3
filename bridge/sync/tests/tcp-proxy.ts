import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A way to a port of loopback that can be blocked, as where a network loses everything, or be slow. */
export interface TcpProxy extends AsyncDisposable {
  port: number;
  /** Nothing comes through, and nobody is told; what is on its way comes once it is open again, or never where the ends gave up meanwhile. */
  block(): void;
  open(): void;
  /** Each piece is so late, in both directions. */
  delayMs: number;
  /** No more than so much comes through, in each direction of each connection. */
  bytesPerSecond: number;
}

/** Pieces (of up to 64 KiB) that wait in the proxy. */
const MOST_WAITING = 64;

export async function tcpProxy(to: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let opened = Promise.withResolvers<void>();
  opened.resolve();
  let isOpen = true;
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    pass(near, far);
    pass(far, near);
  });

  function pass(from: Socket, into: Socket): void {
    sockets.add(from);
    from.once('close', () => {
      sockets.delete(from);
      // An end is no more heard of through a blocked way than anything else.
      void opened.promise.then(() => into.destroy());
    });
    from.on('error', () => {});
    let pieces = 0;
    let last = opened.promise;
    from.on('data', (data) => {
      if (++pieces >= MOST_WAITING) from.pause();
      const due = performance.now() + proxy.delayMs;
      last = last.then(async () => {
        const rest = due - performance.now();
        if (rest > 0) await new Promise((resolve) => setTimeout(resolve, rest));
        await opened.promise;
        const width = proxy.bytesPerSecond;
        if (width < Infinity) await new Promise((resolve) => setTimeout(resolve, (data.length / width) * 1000));
        if (!into.destroyed && !into.write(data)) await Promise.race([once(into, 'drain'), once(into, 'close')]).catch(() => {});
        if (--pieces < MOST_WAITING) from.resume();
      });
    });
  }

  const proxy: TcpProxy = {
    port: 0,
    delayMs: 0,
    bytesPerSecond: Infinity,
    block() {
      // What waits already goes on waiting for the same.
      if (isOpen) opened = Promise.withResolvers();
      isOpen = false;
    },
    open() {
      isOpen = true;
      opened.resolve();
    },
    async [Symbol.asyncDispose]() {
      opened.resolve();
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('there is no port');
  proxy.port = address.port;
  return proxy;
}
