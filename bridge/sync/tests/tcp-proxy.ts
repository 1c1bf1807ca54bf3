import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A proxy to a loopback port that can be slow, or blocked like a network that drops everything. */
export interface TcpProxy extends AsyncDisposable {
  port: number;
  /** Holds all data without closing connections. It is delivered after `open`, unless an endpoint has given up by then. */
  block(): void;
  open(): void;
  /** Delay of each chunk in both directions, in milliseconds. */
  delayMs: number;
  /** Maximum rate in each direction of each connection. */
  bytesPerSecond: number;
}

/** Maximum number of chunks (of up to 64 KiB) waiting in the proxy. */
const MAX_QUEUED_CHUNKS = 64;

export async function startTcpProxy(to: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let opened = Promise.withResolvers<void>();
  opened.resolve();
  let isOpen = true;
  const server = createServer((local) => {
    const remote = connect(to, '127.0.0.1');
    pass(local, remote);
    pass(remote, local);
  });

  function pass(from: Socket, to: Socket): void {
    sockets.add(from);
    from.once('close', () => {
      sockets.delete(from);
      // A closed connection is not reported through a blocked proxy either.
      void opened.promise.then(() => to.destroy());
    });
    from.on('error', () => {});
    let pieces = 0;
    let last = opened.promise;
    from.on('data', (data) => {
      if (++pieces >= MAX_QUEUED_CHUNKS) from.pause();
      const due = performance.now() + proxy.delayMs;
      last = last.then(async () => {
        const rest = due - performance.now();
        if (rest > 0) await new Promise((resolve) => setTimeout(resolve, rest));
        await opened.promise;
        const width = proxy.bytesPerSecond;
        if (width < Infinity) await new Promise((resolve) => setTimeout(resolve, (data.length / width) * 1000));
        if (!to.destroyed && !to.write(data)) await Promise.race([once(to, 'drain'), once(to, 'close')]).catch(() => {});
        if (--pieces < MAX_QUEUED_CHUNKS) from.resume();
      });
    });
  }

  const proxy: TcpProxy = {
    port: 0,
    delayMs: 0,
    bytesPerSecond: Infinity,
    block() {
      // If already blocked, pending data keeps waiting for the same promise.
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
