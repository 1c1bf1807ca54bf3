import { lazy } from '#shared/async/lazy.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Vault } from './vault-interface.ts';
import type { OwnershipLostError } from './vault-errors.ts';
import { HybridClock } from '#shared/sync/hybrid-clock.ts';
import { BlobStore } from './blob-store.ts';
import { readStoredClock, readLocalClock, getReplicaId } from './change-log.ts';
import { createCollection, writeRecords } from './collection.ts';
import { createConfigStore } from './config-store.ts';
import { Database } from './database.ts';
import { createConflictStore } from './conflict-store.ts';
import { FileTotals } from './file-totals.ts';
import { createFileStore } from './file-store.ts';
import { createLogRing } from './log-ring.ts';
import { createMemoryStore } from './memory-store.ts';
import { createMessageStore } from './message-store.ts';
import { migrations } from './migrations.ts';
import { Replica } from './replica.ts';
import { createRunStore } from './run-store.ts';
import { createSearchStore, type SearchStoreDeps } from './search-store.ts';
import { createSecretStore } from './secret-store.ts';
import { SessionList } from './session-list.ts';
import { createSessionStore } from './session-store.ts';
import { Transactions } from './transactions.ts';
import { UsageLog } from './usage-log.ts';

export { VaultClosedError, VaultTooNewError } from './database.ts';
export { acquireEpoch } from './epoch.ts';
export type { Replica } from './replica.ts';
export { SecretUnreadableError } from './secret-store.ts';

/** Why a vault has closed on its own: a newer build needs (or has changed) the data, or another worker owns it. */
export type VaultCloseReason = 'newer-version' | 'ownership-lost';

export interface OpenVaultOptions {
  /** Name of the database. */
  name: string;
  /** Epoch from `acquireEpoch`. Without it writes are not fenced, for environments with a single vault. */
  epoch?: number;
  clock: Clock;
  /** Id of the writer in the change log; by default a new one each time, so that a cloned profile writes as another host. */
  origin?: string;
  /** Called once; every later operation rejects with `VaultTooNewError` or `OwnershipLostError`. */
  onclosed: (reason: VaultCloseReason) => void;
  /** Called if an older build's connection is still open; the vault opens when that closes. */
  onblocked?: () => void;
  /** Called if usage or the search index could not be stored, which no caller waits for. */
  onfault?: (error: unknown) => void;
  /** Tests pass small ones. */
  searchSizes?: SearchStoreDeps['sizes'];
}

/** The vault with its sync interface. */
export interface IndexedDbVault extends Vault {
  readonly sync: Replica;
  /** Brings the search index up to date and fills the reserve; call it when a worker has started and is idle. */
  maintain(): Promise<void>;
}

/**
 * Opens the vault in IndexedDB. Rejects with `VaultTooNewError` if a newer build wrote the data, and with `StorageFullError` if there is no space. It
 * reopens after a forced close.
 */
export async function openVault(options: OpenVaultOptions): Promise<IndexedDbVault> {
  const { name, epoch, clock, onclosed, onblocked, onfault = () => {} } = options;
  let isServing = false;
  let beforeOutdated = async (): Promise<void> => {};
  const database: Database = new Database({
    name,
    migrations,
    onblocked,
    onoutdated: () => isServing && onclosed('newer-version'),
    beforeOutdated: () => beforeOutdated(),
    onopened() {
      if (!isServing) return;
      sessions.clear();
      totals.clear();
    },
    // A first write detects whether the data is gone, so that it is read again.
    onterminated: () => void (isServing && epoch !== undefined && transactions.writeLocal([], async () => {}).catch(onfault)),
  });
  const origin = options.origin ?? crypto.randomUUID();
  const [replica, localClock, remoteClock, pushedClock] = await database.write(['local', 'changes'], 'relaxed', (tx) =>
    Promise.all([getReplicaId(tx), readLocalClock(tx), readStoredClock(tx, 'seen'), readStoredClock(tx, 'pushed')]),
  );
  const hybridClock = new HybridClock(() => clock.now(), origin);
  for (const value of [localClock, remoteClock]) if (value) hybridClock.receive(value);

  const onlost = (reason: OwnershipLostError): void => {
    if (database.end(reason)) onclosed('ownership-lost');
  };
  const transactions = new Transactions(database, {
    clock: hybridClock,
    epoch,
    onlost,
    oncleared: () => sync.onDataCleared(),
    onfull: async () => (await import('./disk-reserve.ts')).releasePiece(name),
  });
  const blobs = new BlobStore(transactions);
  const secrets = createSecretStore({ transactions });
  const sync = new Replica({ transactions, hybridClock, blobs, secrets, origin, seen: remoteClock, pushed: pushedClock, onfault });
  transactions.sink = sync;
  const totals = new FileTotals();
  sync.onRemoteChanges((changes) => totals.onRemoteChanges(changes));
  const sessions = new SessionList(transactions);
  const search = createSearchStore({ clock, transactions, sessions, onfault, sizes: options.searchSizes });
  transactions.oncommitted = (committed) => {
    sessions.applyChanges(committed.sessions);
    search.onMessagesChanged(committed.messages);
  };
  const usage = new UsageLog({ clock, transactions, onfault });
  const flushWrites = async (): Promise<void> => {
    await transactions.waitUntilIdle();
    await usage.flush();
  };
  beforeOutdated = flushWrites;
  isServing = true;

  return {
    sessions: createSessionStore({ clock, transactions, sessions }),
    messages: createMessageStore({ transactions, blobs }),
    runs: createRunStore({ transactions, replica, origin }),
    config: createConfigStore({ transactions, secrets }),
    secrets,
    memories: createMemoryStore({ transactions }),
    files: createFileStore({ transactions, totals }),
    trash: lazy(async () => (await import('./trash-store.ts')).createTrashStore({ transactions, clock })),
    forgetting: lazy(async () => (await import('./forget-store.ts')).createForgetStore({ transactions })),
    documents: lazy(async () => (await import('./document-store.ts')).createDocumentStore({ transactions, blobs })),
    collection: (name) => createCollection(transactions, name),
    writeAll: (writes) => writeRecords(transactions, writes),
    conflicts: createConflictStore({ transactions }),
    onRemoteChanges: (listener) => sync.onRemoteChanges(listener),
    usage: usage.store,
    logs: createLogRing({ transactions }),
    check: () => checkWritable(transactions),
    getClockLead: () => hybridClock.ahead(),
    search: search.store,
    async maintain() {
      await search.maintain();
      await (await import('./disk-reserve.ts')).fillReserve(name);
    },
    origin,
    replica,
    sync,
    async close() {
      await search.stop();
      await flushWrites();
      await database.close();
    },
  };
}

/** Strictly writes a local row and reads it back; see `Vault.check`. Rejects while storage is full. */
async function checkWritable(transactions: Transactions): Promise<void> {
  const value = crypto.randomUUID();
  if (transactions.sink?.diskFull) throw transactions.sink.diskFull;
  await transactions.writeLocal(['local'], (tx) => tx.objectStore('local').put({ name: 'checked', value }), 'strict');
  const row = await transactions.read(['local'], (tx) => tx.objectStore('local').get('checked'));
  if (row?.name !== 'checked' || row.value !== value) throw new Error('Written data could not be read back');
}
