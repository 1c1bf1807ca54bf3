import 'fake-indexeddb/auto';
import type { ConflictCopy } from '../../shared/sync/conflict.ts';
import { SCHEMA_VERSION } from '../../shared/link/hello.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { waitFor } from '../support/test-gateway.ts';
import type { MemoryJournal } from '../support/memory-journal.ts';
import { dumpDatabase } from '../../web/gateway/storage/fixture.ts';
import { openVault, type IndexedDbVault, acquireEpoch } from '../../web/gateway/storage/open-vault.ts';
import { Replicator } from '../../web/gateway/sync/replicator.ts';

let replicas = 0;

/** Versions that were put aside there. */
export async function getConflictCopies({ conflicts }: Pick<IndexedDbVault, 'conflicts'>): Promise<ConflictCopy[]> {
  const copies = await Promise.all((await conflicts.ids()).map((id) => conflicts.get(id)));
  return copies.filter((copy) => copy !== undefined);
}

/** One host in Node: its own database, vault and replicator. */
export class TestReplica {
  readonly clock = new FakeClock();
  readonly faults: unknown[] = [];
  vault!: IndexedDbVault;
  replicator!: Replicator;
  connection: ReturnType<MemoryJournal['connect']> | undefined;
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
    const fence = this.#isFenced ? { epoch: await acquireEpoch(this.name) } : {};
    this.vault = await openVault({ name: this.name, clock: this.clock, onclosed: () => {}, onfault, ...fence });
    this.replicator = new Replicator({ replica: this.vault.sync, clock: this.clock, schema: this.#schema, name: this.name, onfault });
  }

  /** As a crash: nothing is flushed. */
  async crash(): Promise<void> {
    this.connection?.cut();
    this.connection = undefined;
    await this.vault.close();
  }

  attach(journal: MemoryJournal): void {
    this.connection = journal.connect();
    this.replicator.attach(this.connection);
  }

  /** Attaches and waits until it is in step. */
  async join(journal: MemoryJournal): Promise<void> {
    this.attach(journal);
    await this.waitForSync(journal);
  }

  async waitForSync(journal: MemoryJournal): Promise<void> {
    await waitFor(() => this.replicator.state().state === 'synced' && this.replicator.state().pending === 0, `${this.name} in step`);
    await this.replicator.waitForPosition(journal.seq);
  }

  disconnect(): void {
    this.connection?.cut();
    this.connection = undefined;
  }

  /** Everything that is of the vault, and so is the same on every replica. */
  async readContent(): Promise<Record<string, unknown>> {
    const { changes, ...stores } = await dumpDatabase(this.name);
    for (const own of ['local', 'keys', 'secrets', 'partials', 'runSteps', 'blobs', 'searchPending', 'searchSegments', 'searchPages'])
      delete stores[own];
    const versions = Object.values(changes ?? {}).map((row) => {
      const { store, key, clock, deleted } = row as { store: string; key: string; clock: string; deleted?: true };
      return `${store}/${key} ${clock}${deleted ? ' gone' : ''}`;
    });
    return { ...stores, versions: versions.sort() };
  }
}
