import 'fake-indexeddb/auto';
import { SCHEMA_VERSION } from '#shared/link/hello.ts';
import type { SyncState } from '#shared/rpc/methods/sync.ts';
import type { Bridge } from '../../web/gateway/core/bridge.ts';
import { type Clock, systemClock } from '../../web/gateway/core/clock.ts';
import type { Fetch } from '../../web/gateway/core/fetch.ts';
import type { SyncPort } from '../../web/gateway/core/sync.ts';
import { openVault } from '../../web/gateway/storage/vault.ts';
import { Replicator } from '../../web/gateway/sync/replicator.ts';
import { type Script, type TestGateway, testGateway, until } from './gateway.ts';
import { MemoryJournal } from './memory-journal.ts';

interface HostOptions {
  model?: Script;
  clock?: Clock;
  bridge?: Bridge;
  fetch?: Fetch;
}

export interface TestHost extends TestGateway {
  /** Name of its database. */
  name: string;
  origin: string;
  replicator: Replicator;
  /** Resolves when all that the journal has is here, and the other way round. */
  synced(): Promise<void>;
  /** Simulates the death of the process: its connection is cut, and it reports nothing further. */
  crash(): void;
}

let names = 0;

/** Whole hosts in Node on one journal in memory; the test says which one serves. */
export class TestHosts {
  readonly journal = new MemoryJournal();
  readonly #watchers = new Set<() => void>();
  #holder: string | undefined;
  /** True as for a moment while one host takes over from another. */
  everyoneServes = false;

  /** A host that has caught up. The first one chooses the scripted model as its provider; the others have that by the journal. */
  async host(options: HostOptions = {}): Promise<TestHost> {
    return this.#start(`host-${++names}`, options, (replicator) => this.#attach(replicator));
  }

  /** The next worker on the same data, with `attach` for its line to the journal. */
  async reopen({ name }: TestHost, options: HostOptions = {}): Promise<TestHost & { attach(): void }> {
    const host = await this.#start(name, options, async (replicator) => replicator.start());
    return { ...host, attach: () => host.replicator.attach(this.journal.line()) };
  }

  async #attach(replicator: Replicator): Promise<{ cut(): void }> {
    const line = this.journal.line();
    replicator.attach(line);
    await this.#synced(replicator);
    return line;
  }

  async #synced(replicator: Replicator): Promise<void> {
    await until(() => replicator.state().state === 'synced' && replicator.state().pending === 0, 'a host in step');
    await replicator.reached(this.journal.seq);
  }

  async #start(
    name: string,
    { clock = systemClock, ...options }: HostOptions,
    attach: (replicator: Replicator) => Promise<{ cut(): void } | void>,
  ): Promise<TestHost> {
    const first = this.journal.seq === 0;
    const vault = await openVault({ name, clock, onclosed: () => {} });
    const faults: unknown[] = [];
    const replicator = new Replicator({
      replica: vault.sync,
      clock,
      schema: SCHEMA_VERSION,
      name,
      onfault: (error) => void faults.push(error),
    });
    const line = await attach(replicator);
    const synced = (): Promise<void> => this.#synced(replicator);
    this.#holder ??= vault.origin;
    const gw = await testGateway({ vault, sync: this.#port(replicator, vault.origin), useGuide: !first, clock, ...options });
    if (line) await synced();
    return { ...gw, name, origin: vault.origin, replicator, synced, crash: () => line?.cut() };
  }

  /** Another host serves from here on. */
  serve(host: TestHost): void {
    this.#holder = host.origin;
    for (const watcher of this.#watchers) watcher();
  }

  #port(replicator: Replicator, origin: string): SyncPort {
    const state = (): SyncState => {
      const given = replicator.state();
      return { ...given, role: given.state === 'away' ? 'none' : this.everyoneServes || this.#holder === origin ? 'holder' : 'replica' };
    };
    return {
      state,
      watch: (listener) => {
        const stop = replicator.watch(listener);
        this.#watchers.add(listener);
        return () => {
          stop();
          this.#watchers.delete(listener);
        };
      },
      reached: (seq) => replicator.reached(seq),
      info: () => replicator.info(),
      cluster: () => replicator.cluster(),
      shared: () => replicator.shared(),
      claim: (runId, executor) => replicator.claim(runId, executor),
      lease: (name, ttlMs) => replicator.lease(name, ttlMs),
      release: (name, fence) => replicator.release(name, fence),
      signal: (to, payload) => replicator.signal(to ?? this.#holder, payload),
      onsignal: (listener) => replicator.onsignal(listener),
    };
  }
}
