import 'fake-indexeddb/auto';
import type { ConflictCopy } from '../../shared/sync/conflict.ts';
import { SCHEMA_VERSION } from '../../shared/link/hello.ts';
import { FakeClock } from '../support/clock.ts';
import { until } from '../support/gateway.ts';
import type { MemoryJournal } from '../support/memory-journal.ts';
import { dump } from '../../web/gateway/storage/fixture.ts';
import { openVault, type StoredVault, takeEpoch } from '../../web/gateway/storage/vault.ts';
import { Replicator } from '../../web/gateway/sync/replicator.ts';

let replicas = 0;

/** Versions that were put aside there. */
export async function copiesOf({ conflicts }: Pick<StoredVault, 'conflicts'>): Promise<ConflictCopy[]> {
  const copies = await Promise.all((await conflicts.ids()).map((id) => conflicts.get(id)));
  return copies.filter((copy) => copy !== undefined);
}

/** One host in Node: its own database, vault and replicator. */
export class TestReplica {
  readonly clock = new FakeClock();
  readonly faults: unknown[] = [];
  vault!: StoredVault;
  replicator!: Replicator;
  line: ReturnType<MemoryJournal['line']> | undefined;
  readonly name: string;
  #schema: number;
  #isFenced = false;

  private constructor(name: string, schema: number) {
    this.name = `${name}-${++replicas}`;
    this.#schema = schema;
  }

  static async open(name: string, options: { schema?: number; skew?: number; fenced?: boolean } = {}): Promise<TestReplica> {
    const replica = new TestReplica(name, options.schema ?? SCHEMA_VERSION);
    replica.#isFenced = options.fenced ?? false;
    replica.clock.jump(options.skew ?? 0);
    await replica.start();
    return replica;
  }

  /** Opens the vault, as a worker that starts does: under a new origin. */
  async start(schema = this.#schema): Promise<void> {
    this.#schema = schema;
    const onfault = (error: unknown): void => void this.faults.push(error);
    const fence = this.#isFenced ? { epoch: await takeEpoch(this.name) } : {};
    this.vault = await openVault({ name: this.name, clock: this.clock, onclosed: () => {}, onfault, ...fence });
    this.replicator = new Replicator({ replica: this.vault.sync, clock: this.clock, schema: this.#schema, name: this.name, onfault });
  }

  /** As a crash: nothing is flushed. */
  async crash(): Promise<void> {
    this.line?.cut();
    this.line = undefined;
    await this.vault.close();
  }

  attach(journal: MemoryJournal): void {
    this.line = journal.line();
    this.replicator.attach(this.line);
  }

  /** Attaches and waits until it is in step. */
  async join(journal: MemoryJournal): Promise<void> {
    this.attach(journal);
    await this.synced(journal);
  }

  async synced(journal: MemoryJournal): Promise<void> {
    await until(() => this.replicator.state().state === 'synced' && this.replicator.state().pending === 0, `${this.name} in step`);
    await this.replicator.reached(journal.seq);
  }

  cut(): void {
    this.line?.cut();
    this.line = undefined;
  }

  /** Everything that is of the vault, and so is the same on every replica. */
  async content(): Promise<Record<string, unknown>> {
    const { changes, ...stores } = await dump(this.name);
    for (const own of ['local', 'keys', 'secrets', 'partials', 'runSteps', 'blobs', 'searchPending', 'searchSegments', 'searchPages'])
      delete stores[own];
    const versions = Object.values(changes ?? {}).map((row) => {
      const { store, key, clock, deleted } = row as { store: string; key: string; clock: string; deleted?: true };
      return `${store}/${key} ${clock}${deleted ? ' gone' : ''}`;
    });
    return { ...stores, versions: versions.sort() };
  }
}
