import { memoryPair } from '#shared/link/link.ts';
import { greeting } from '#shared/link/testing.ts';
import { MUX_VERSION } from '#shared/link/hello.ts';
import { Mux } from '#shared/link/mux.ts';
import type { Port } from '#shared/ports/port.ts';
import { type PortHandlers, servePort } from '../../bridge/server/serve-port.ts';
import type { Bridge } from '../../web/gateway/core/bridge.ts';
import { bridgeOver } from '../../web/gateway/ports/bridge.ts';

/** A port, and who does its calls. */
export interface Lent {
  port: Port;
  handlers: PortHandlers<Port['calls'], Port['events']>;
}

export const lend = <P extends Port>(port: P, handlers: PortHandlers<P['calls'], P['events']>): Lent => ({
  port,
  handlers: handlers as unknown as Lent['handlers'],
});

/** The core's bridge with real multiplexers and a memory link between, and at its other end the handlers that a test gives. */
export class FakeBridge implements Bridge {
  readonly #lent: readonly Lent[];
  readonly #watchers = new Set<() => void>();
  #mux: Mux | null = null;
  readonly #bridge: Bridge;
  readonly lends: Bridge['lends'];
  readonly call: Bridge['call'];
  /** Errors of handlers. */
  readonly faults: string[] = [];

  constructor(...lent: Lent[]) {
    this.#lent = lent;
    this.#bridge = bridgeOver(
      (kind) => (lent.some(({ port }) => port.kind === kind) ? this.#mux : null),
      (listener) => this.watch(listener),
    );
    this.lends = this.#bridge.lends;
    this.call = this.#bridge.call;
    this.attach();
  }

  attach(): void {
    const [ours, theirs] = memoryPair<Uint8Array>();
    const hello = { ...greeting, muxVersion: MUX_VERSION };
    new Mux(theirs, {
      side: 'acceptor',
      hello,
      schedule: setImmediate,
      onstream: (stream, { kind }) => {
        const lent = this.#lent.find(({ port }) => port.kind === kind);
        if (lent) servePort(stream, lent.port, lent.handlers, (line) => this.faults.push(line));
        else stream.reset(1008, `nothing here answers ${kind}`);
      },
    });
    this.#mux = new Mux(ours, {
      side: 'dialer',
      hello,
      schedule: setImmediate,
      onstream: (stream) => stream.reset(1008, 'nothing is answered here'),
    });
    this.#tell();
  }

  /** Detaches the bridge and aborts pending calls. */
  detach(): void {
    this.#mux?.close(1001, 'the bridge went away');
    this.#mux = null;
    this.#tell();
  }

  watch(listener: () => void): () => void {
    this.#watchers.add(listener);
    return () => this.#watchers.delete(listener);
  }

  #tell(): void {
    for (const watcher of this.#watchers) watcher();
  }
}
