import type { DBSchema, IDBPDatabase, IDBPTransaction, StoreNames } from 'idb';
import type { MemoryRecord, MessageRecord, RunRecord, SessionRecord, UsageRecord } from '../core/vault.ts';

/** A secret as it lies on disk; `keyId` names the key that it was sealed with. */
export interface SealedSecret {
  name: string;
  keyId: string;
  iv: Uint8Array<ArrayBuffer>;
  data: ArrayBuffer;
}

/** The last change of one record. All rows of one transaction bear the same clock reading. */
export interface ChangeRow {
  store: LoggedStore;
  key: string;
  /** A reading of the hybrid clock. */
  clock: string;
  origin: string;
  /** The record is gone. */
  deleted?: true;
}

/** Records that were committed together: a row for each would cost more than all else that a call does. */
export interface UsageGroup {
  /** The first record's. */
  id: string;
  /** The newest record's time. */
  until: number;
  records: UsageRecord[];
}

/** The database as it is after the last migration. */
export interface Schema extends DBSchema {
  sessions: { key: string; value: SessionRecord };
  messages: { key: string; value: MessageRecord; indexes: { branch: [sessionKey: string, depth: number]; timestamp: number } };
  /** `partial` is always empty here; the text of a run under way is in `partials`. */
  runs: { key: string; value: RunRecord; indexes: { session: string; status: string } };
  /** One row for each run under way whose session still wants its text. */
  partials: { key: string; value: { runId: string; text: string } };
  config: { key: string; value: { name: string; value: Record<string, unknown> } };
  secrets: { key: string; value: SealedSecret };
  keys: { key: string; value: { name: string; keyId: string; key: CryptoKey } };
  memories: { key: string; value: MemoryRecord; indexes: { createdAt: number } };
  usage: { key: string; value: UsageGroup; indexes: { until: number } };
  changes: { key: [store: string, key: string]; value: ChangeRow; indexes: { clock: string } };
  /** What concerns this copy alone: its owner's epoch, and its own id in the change log. */
  local: { key: string; value: { name: 'epoch'; value: number } | { name: 'origin'; value: string } };
}

export type StoreName = StoreNames<Schema>;
/** Stores whose every change goes to the change log; the others are bookkeeping of this copy. */
export type LoggedStore = 'sessions' | 'messages' | 'runs' | 'config' | 'secrets' | 'memories' | 'usage';

export type Connection = IDBPDatabase<Schema>;
export type ReadTransaction = IDBPTransaction<Schema, StoreName[], 'readonly'>;
export type WriteTransaction = IDBPTransaction<Schema, StoreName[], 'readwrite'>;
export type UpgradeTransaction = IDBPTransaction<Schema, StoreName[], 'versionchange'>;
