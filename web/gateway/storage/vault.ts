import type { Clock } from '../core/clock.ts';
import type { OwnershipLost, Vault } from '../core/vault.ts';
import { HybridClock } from '#shared/sync/hybrid-clock.ts';
import { Blobs } from './blobs.ts';
import { notedReading, ownReading, replicaOf } from './change-log.ts';
import { collectionOf, writeTogether } from './collection.ts';
import { configStore } from './config.ts';
import { Database } from './database.ts';
import { conflictStore } from './conflicts.ts';
import { FileTotals } from './file-totals.ts';
import { fileStore } from './files.ts';
import { logRing } from './logs.ts';
import { memoryStore } from './memories.ts';
import { messageStore } from './messages.ts';
import { steps } from './migrations.ts';
import { Replica } from './replica.ts';
import { runStore } from './runs.ts';
import { checkWriting } from './check-writing.ts';
import { searchStore, type SearchStoreDeps } from './search-store.ts';
import { secretStore } from './secrets.ts';
import { SessionList } from './session-list.ts';
import { sessionStore } from './sessions.ts';
import { Transactions } from './transaction.ts';
import { UsageLog } from './usage.ts';

export { VaultClosed, VaultTooNew } from './database.ts';
export { takeEpoch } from './epoch.ts';
export type { Replica } from './replica.ts';
export { SecretUnreadable } from './secrets.ts';

/** Why a vault has closed on its own: a newer build needs (or has changed) the data, or another worker owns it. */
export type ClosedReason = 'newer-version' | 'ownership-lost';

export interface VaultOptions {
  /** Name of the database. */
  name: string;
  /** Epoch from `takeEpoch`. Without it writes are not fenced, for environments with a single vault. */
  epoch?: number;
  clock: Clock;
  /** Id of the writer in the change log; by default a new one each time, so that a cloned profile writes as another host. */
  origin?: string;
  /** Called once; every later operation rejects with `VaultTooNew` or `OwnershipLost`. */
  onclosed: (reason: ClosedReason) => void;
  /** Called if an older build's connection is still open; the vault opens when that closes. */
  onblocked?: () => void;
  /** Called if usage or the search index could not be stored, which no caller waits for. */
  onfault?: (error: unknown) => void;
  /** Tests pass small ones. */
  searchSizes?: SearchStoreDeps['sizes'];
}

/** The vault with its sync interface. */
export interface StoredVault extends Vault {
  readonly sync: Replica;
  /** Brings the search index up to date and fills the reserve; call it when a worker has started and is idle. */
  tend(): Promise<void>;
}

/**
 * Opens the vault in IndexedDB. Rejects with `VaultTooNew` if a newer build wrote the data, and with `StorageFull` if there is no space. It
 * reopens after a forced close.
 */
export async function openVault(options: VaultOptions): Promise<StoredVault> {
  const { name, epoch, clock, onclosed, onblocked, onfault = () => {} } = options;
  let serving = false;
  let beforeOutdated = async (): Promise<void> => {};
  const database: Database = new Database({
    name,
    steps,
    onblocked,
    onoutdated: () => serving && onclosed('newer-version'),
    beforeOutdated: () => beforeOutdated(),
    onopened() {
      if (!serving) return;
      sessions.forget();
      totals.forget();
    },
    // A first write detects whether the data is gone, so that it is read again.
    onterminated: () => void (serving && epoch !== undefined && transactions.local([], async () => {}).catch(onfault)),
  });
  const origin = options.origin ?? crypto.randomUUID();
  const [replica, own, seen, pushed] = await database.write(['local', 'changes'], 'relaxed', (tx) =>
    Promise.all([replicaOf(tx), ownReading(tx), notedReading(tx, 'seen'), notedReading(tx, 'pushed')]),
  );
  const readings = new HybridClock(() => clock.now(), origin);
  for (const reading of [own, seen]) if (reading) readings.receive(reading);

  const onlost = (reason: OwnershipLost): void => {
    if (database.end(reason)) onclosed('ownership-lost');
  };
  const transactions = new Transactions(database, {
    clock: readings,
    epoch,
    onlost,
    oncleared: () => sync.cleared(),
    onfull: async () => (await import('./reserve.ts')).spendReserve(name),
  });
  const blobs = new Blobs(transactions);
  const secrets = secretStore({ transactions });
  const sync = new Replica({ transactions, readings, blobs, secrets, origin, seen, pushed, onfault });
  transactions.sink = sync;
  const totals = new FileTotals();
  sync.onforeign((changes) => totals.foreign(changes));
  const sessions = new SessionList(transactions);
  const search = searchStore({ clock, transactions, sessions, onfault, sizes: options.searchSizes });
  transactions.oncommitted = (committed) => {
    sessions.changed(committed.sessions);
    search.changed(committed.messages);
  };
  const usage = new UsageLog({ clock, transactions, onfault });
  const settle = async (): Promise<void> => {
    await transactions.idle();
    await usage.flush();
  };
  beforeOutdated = settle;
  serving = true;

  return {
    sessions: sessionStore({ clock, transactions, sessions }),
    messages: messageStore({ transactions, blobs }),
    runs: runStore({ transactions, replica, origin }),
    config: configStore({ transactions, secrets }),
    secrets,
    memories: memoryStore({ transactions }),
    files: fileStore({ transactions, totals }),
    collection: (name) => collectionOf(transactions, name),
    together: (writes) => writeTogether(transactions, writes),
    conflicts: conflictStore({ transactions }),
    onforeign: (listener) => sync.onforeign(listener),
    usage: usage.store,
    logs: logRing({ transactions }),
    check: () => checkWriting(transactions),
    ahead: () => readings.ahead(),
    search: search.store,
    async tend() {
      await search.tend();
      await (await import('./reserve.ts')).fillReserve(name);
    },
    origin,
    replica,
    sync,
    async close() {
      await search.stop();
      await settle();
      await database.close();
    },
  };
}
