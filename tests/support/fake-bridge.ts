import { memoryPair } from '#shared/link/link.ts';
import { testHello } from '#shared/link/mux-testing.ts';
import { MUX_VERSION } from '#shared/link/hello.ts';
import { Mux } from '#shared/link/mux.ts';
import type { Port } from '#shared/ports/port.ts';
import { type PortHandlers, servePort } from '../../bridge/capabilities/serve-port.ts';
import type { Bridge } from '../../web/gateway/ports/bridge-interface.ts';
import { createUplinkBridge } from '../../web/gateway/ports/uplink-bridge.ts';

/** A port with its handlers. */
export interface FakeCapability {
  port: Port;
  handlers: PortHandlers<Port['calls'], Port['events']>;
}

export const createCapability = <P extends Port>(port: P, handlers: PortHandlers<P['calls'], P['events']>): FakeCapability => ({
  port,
  handlers: handlers as unknown as FakeCapability['handlers'],
});

/** The core's bridge with real multiplexers, a memory link, and a test's handlers at the other end. */
export class FakeBridge implements Bridge {
  readonly #capabilities: readonly FakeCapability[];
  readonly #watchers = new Set<() => void>();
  #mux: Mux | null = null;
  readonly #bridge: Bridge;
  readonly provides: Bridge['provides'];
  readonly call: Bridge['call'];
  /** Errors of handlers. */
  readonly faults: string[] = [];

  constructor(...capabilities: FakeCapability[]) {
    this.#capabilities = capabilities;
    this.#bridge = createUplinkBridge(
      (kind) => (capabilities.some(({ port }) => port.kind === kind) ? this.#mux : null),
      (listener) => this.watch(listener),
    );
    this.provides = this.#bridge.provides;
    this.call = this.#bridge.call;
    this.attach();
  }

  attach(): void {
    const [ours, theirs] = memoryPair<Uint8Array>();
    const hello = { ...testHello, muxVersion: MUX_VERSION };
    new Mux(theirs, {
      side: 'acceptor',
      hello,
      schedule: setImmediate,
      onstream: (stream, { kind }) => {
        const capability = this.#capabilities.find(({ port }) => port.kind === kind);
        if (capability) servePort(stream, capability.port, capability.handlers, (line) => this.faults.push(line));
        else stream.reset(1008, `nothing here answers ${kind}`);
      },
    });
    this.#mux = new Mux(ours, {
      side: 'dialer',
      hello,
      schedule: setImmediate,
      onstream: (stream) => stream.reset(1008, 'nothing is answered here'),
    });
    this.#notify();
  }

  /** Detaches the bridge and aborts pending calls. */
  detach(): void {
    this.#mux?.close(1001, 'the bridge went away');
    this.#mux = null;
    this.#notify();
  }

  watch(listener: () => void): () => void {
    this.#watchers.add(listener);
    return () => this.#watchers.delete(listener);
  }

  #notify(): void {
    for (const watcher of this.#watchers) watcher();
  }
}
