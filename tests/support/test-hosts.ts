import 'fake-indexeddb/auto';
import { SCHEMA_VERSION } from '#shared/link/hello.ts';
import type { SyncState } from '#shared/rpc/methods/sync-contracts.ts';
import type { Bridge } from '../../web/gateway/ports/bridge-interface.ts';
import { type Clock, systemClock } from '../../shared/async/clock.ts';
import type { GatewayOptions } from '../../web/gateway/gateway-options.ts';
import type { Fetch } from '../../web/gateway/ports/fetch.ts';
import type { SyncPort } from '../../web/gateway/sync/sync-port.ts';
import { openVault } from '../../web/gateway/storage/open-vault.ts';
import { Replicator } from '../../web/gateway/sync/replicator.ts';
import { type ModelScript, type TestGateway, createTestGateway, waitFor } from './test-gateway.ts';
import { MemoryJournal } from './memory-journal.ts';

interface HostOptions {
  model?: ModelScript;
  clock?: Clock;
  bridge?: Bridge;
  fetch?: Fetch;
  memoryStore?: GatewayOptions['memoryStore'];
}

export interface TestHost extends TestGateway {
  /** Name of its database. */
  name: string;
  origin: string;
  replicator: Replicator;
  /** Resolves when the host and the journal have the same records. */
  waitForSync(): Promise<void>;
  /** Simulates the death of the process: its connection is cut, and it reports nothing further. */
  crash(): void;
}

let names = 0;

/** Complete hosts in Node on one journal in memory; the test selects the active one. */
export class TestHosts {
  readonly journal = new MemoryJournal();
  readonly #watchers = new Set<() => void>();
  #activeHost: string | undefined;
  /** True while one host takes over from another. */
  isEveryHostActive = false;

  /** Starts a host and waits until it has caught up. The first one selects the scripted model as its provider; the others receive that from the journal. */
  async host(options: HostOptions = {}): Promise<TestHost> {
    return this.#start(`host-${++names}`, options, (replicator) => this.#attach(replicator));
  }

  /** Starts the next worker on the same data; `attach` connects it to the journal. */
  async reopen({ name }: TestHost, options: HostOptions = {}): Promise<TestHost & { attach(): void }> {
    const host = await this.#start(name, options, async (replicator) => replicator.start());
    return { ...host, attach: () => host.replicator.attach(this.journal.connect()) };
  }

  async #attach(replicator: Replicator): Promise<{ cut(): void }> {
    const connection = this.journal.connect();
    replicator.attach(connection);
    await this.#waitForSync(replicator);
    return connection;
  }

  async #waitForSync(replicator: Replicator): Promise<void> {
    await waitFor(() => replicator.state().state === 'synced' && replicator.state().pending === 0, 'a host in step');
    await replicator.waitForPosition(this.journal.seq);
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
    const connection = await attach(replicator);
    const synced = (): Promise<void> => this.#waitForSync(replicator);
    this.#activeHost ??= vault.origin;
    const gw = await createTestGateway({
      vault,
      sync: this.#createSyncPort(replicator, vault.origin),
      useGuide: !first,
      clock,
      ...options,
    });
    if (connection) await synced();
    return { ...gw, name, origin: vault.origin, replicator, waitForSync: synced, crash: () => connection?.cut() };
  }

  /** Makes another host the active one. */
  activate(host: TestHost): void {
    this.#activeHost = host.origin;
    for (const watcher of this.#watchers) watcher();
  }

  #createSyncPort(replicator: Replicator, origin: string): SyncPort {
    const state = (): SyncState => {
      const replicaState = replicator.state();
      return {
        ...replicaState,
        role: replicaState.state === 'away' ? 'none' : this.isEveryHostActive || this.#activeHost === origin ? 'holder' : 'replica',
      };
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
      waitForPosition: (seq) => replicator.waitForPosition(seq),
      info: () => replicator.info(),
      cluster: () => replicator.cluster(),
      isShared: () => replicator.isShared(),
      claim: (runId, executor) => replicator.claim(runId, executor),
      lease: (name, ttlMs) => replicator.lease(name, ttlMs),
      release: (name, fence) => replicator.release(name, fence),
      signal: (to, payload) => replicator.signal(to ?? this.#activeHost, payload),
      onsignal: (listener) => replicator.onsignal(listener),
    };
  }
}
