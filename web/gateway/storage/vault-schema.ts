import type { DBSchema, IDBPTransaction, StoreNames } from 'idb';
import type { JournalPosition } from '#shared/ports/journal-port.ts';
import type { FileRecord } from '#shared/rpc/workspace-file.ts';
import type { MessagePart } from '#shared/rpc/record-schemas.ts';
import type { ConflictCopy } from '#shared/sync/conflict.ts';
import type { SyncStore } from '#shared/sync/record.ts';
import type { Collections, MemoryRecord, UsageRecord } from './vault-interface.ts';
import type { LogRecord } from './records/log-record.ts';
import type { CollectionSegmentRow, CollectionVectorsRow } from './records/collection-records.ts';
import type { TrashedRecord, TrashItem } from './records/trash-item.ts';
import type { MessageRecord, RunRecord, RunStep, SessionRecord, StepResult } from './chat-records.ts';

/** A secret as it is stored; `keyId` names the key that it was sealed with. */
export interface SealedSecret {
  name: string;
  keyId: string;
  iv: Uint8Array<ArrayBuffer>;
  data: ArrayBuffer;
}

/** The last change of one record. All rows of one transaction have the same clock value. */
export interface ChangeRow {
  store: SyncStore;
  key: string;
  /** Hybrid clock value, which contains the writer's id. */
  clock: string;
  /** For a run: the fencing number that it was written under. */
  fence?: number;
  /** Set if written by this host; otherwise it came from the journal. A number for the index, which contains only such rows. */
  own?: 1;
  /** Set if the record was deleted. A number for the index, too. */
  deleted?: 1;
  /** For a local change in a store with conflict copies: the journal's version that it is based on (`SyncRecord.base`). */
  base?: string | null;
}

/**
 * A part of a message whose bytes are stored in `blobs` by their SHA-256; its `data` is empty here. `length`: number of base64 characters.
 */
export type StoredPart = MessagePart & { hash?: string; length?: number };
/** A message as it is stored. `blobs`: hashes of its parts. */
export type StoredMessage = Omit<MessageRecord, 'content'> & { content: string | StoredPart[]; blobs?: string[] };

/** Records that were committed together: a row for each would cost more than the rest of a call. */
export interface UsageGroup {
  /** Id of the first record. */
  id: string;
  /** Time of the newest record. */
  until: number;
  records: UsageRecord[];
}

/** Rows that concern only this replica. */
export type LocalRow =
  /** Epoch of the owner. */
  | { name: 'epoch'; value: number }
  /** Id of the replica. */
  | { name: 'replica'; value: string }
  /** Read position in the journal. */
  | { name: 'position'; value: JournalPosition }
  /** Records before that position may have been skipped. */
  | { name: 'doubtful' }
  /** Server that led the vault's stream when the replica was complete. */
  | { name: 'leader'; value: string }
  /** The newest clock value received from other hosts: the local clock stays ahead of it. */
  | { name: 'seen'; value: string }
  /** The newest local change that the journal has. */
  | { name: 'pushed'; value: string }
  /** Ids of the `forgettings` whose derived data was deleted from this replica. */
  | { name: 'forgotten'; ids: string[] }
  /** Written by `checkWriting`. */
  | { name: 'checked'; value: string }
  /**
   * State of the search index: its format, id and segments, and the message (by id; null: the last) up to which older messages are indexed.
   */
  | { name: 'search'; form: number; id: string; segments: number[]; filled: string | null };

/** A segment of the search index: `docs` messages, with `length` terms in total; the first term of each page of its dictionary. */
export interface SegmentRow {
  id: number;
  docs: number;
  length: number;
  terms: string[];
}

/** A page of a segment; for its kinds see search/search-pages.ts. */
export interface SearchPage {
  segment: number;
  part: number;
  page: number;
  data: Uint8Array<ArrayBuffer> | string[];
}

/** The database after the last migration. */
export interface VaultSchema extends DBSchema {
  /**
   * A row contains two records of the vault: the `sessions` entry and the `heads` one; count, size and preview are derived from its
   * messages.
   */
  sessions: { key: string; value: SessionRecord };
  messages: {
    key: string;
    value: StoredMessage;
    indexes: { branch: [sessionKey: string, depth: number]; timestamp: number; blobs: string };
  };
  blobs: { key: string; value: { hash: string; bytes: Uint8Array<ArrayBuffer> } };
  /** `partial`: text of a run that another host executes, over all of its steps; empty once it has ended. */
  runs: { key: string; value: RunRecord; indexes: { session: string; status: string } };
  /** One row for each active run whose session still exists. */
  partials: { key: string; value: { runId: string; text: string } };
  /** Steps of runs that have a row in `partials`, each followed by its results. */
  runSteps: { key: [runId: string, at: number]; value: RunStep | StepResult };
  /** The configuration in rows, so that changes of two devices conflict only if they concern the same setting (config-rows.ts). */
  config: { key: string; value: { name: string; value: unknown } };
  secrets: { key: string; value: SealedSecret };
  /** Bytes of the key if the browser cannot store a CryptoKey (secret-sealing.ts). */
  keys: { key: string; value: { name: string; keyId: string; key: CryptoKey | Uint8Array<ArrayBuffer> } };
  memories: { key: string; value: MemoryRecord; indexes: { createdAt: number } };
  usage: { key: string; value: UsageGroup; indexes: { until: number } };
  conflicts: { key: string; value: ConflictCopy };
  plans: { key: string; value: Collections['plans'] };
  jobs: { key: string; value: Collections['jobs'] };
  jobRuns: { key: string; value: Collections['jobRuns']; indexes: { job: [jobId: string, startedAt: number]; startedAt: number } };
  execRequests: { key: string; value: Collections['execRequests']; indexes: { createdAt: number } };
  execPolicies: { key: string; value: Collections['execPolicies'] };
  approvals: { key: string; value: Collections['approvals']; indexes: { createdAt: number } };
  devices: { key: string; value: Collections['devices'] };
  apiKeys: { key: string; value: Collections['apiKeys'] };
  projects: { key: string; value: Collections['projects'] };
  pushDevices: { key: string; value: Collections['pushDevices'] };
  hooks: { key: string; value: Collections['hooks'] };
  hookCalls: { key: string; value: Collections['hookCalls'] };
  budgets: { key: string; value: Collections['budgets'] };
  deliveries: { key: string; value: Collections['deliveries'] };
  responses: { key: string; value: Collections['responses'] };
  conversations: { key: string; value: Collections['conversations'] };
  apiFiles: { key: string; value: Collections['apiFiles'] };
  systemEvents: { key: string; value: Collections['systemEvents'] };
  mcpTools: { key: string; value: Collections['mcpTools'] };
  channelStates: { key: string; value: Collections['channelStates'] };
  drawings: { key: string; value: Collections['drawings'] };
  drawingChanges: { key: string; value: Collections['drawingChanges'] };
  contentLabels: { key: string; value: Collections['contentLabels'] };
  provenance: { key: string; value: Collections['provenance'] };
  forgettings: { key: string; value: Collections['forgettings'] };
  fileVersions: { key: string; value: Collections['fileVersions'] };
  trash: { key: string; value: TrashItem };
  trashRecords: { key: string; value: TrashedRecord; indexes: { blobs: string } };
  collections: { key: string; value: Collections['collections'] };
  collectionDocuments: { key: string; value: Collections['collectionDocuments']; indexes: { blobs: string } };
  collectionTexts: { key: string; value: Collections['collectionTexts'] };
  /** Search index of collections. Local to this replica, like `collectionVectors`. */
  collectionSegments: { key: string; value: CollectionSegmentRow };
  collectionVectors: { key: string; value: CollectionVectorsRow };
  files: {
    key: string;
    value: FileRecord;
    indexes: { entry: [workspace: string, path: string, mimeType: string, size: number, modifiedAt: number] };
  };
  /** Log of this replica, a ring buffer, by number. */
  logs: { key: number; value: LogRecord };
  /**
   * Messages that were stored or removed, by transaction, until the search index has stored them. Local to this replica, like the index's
   * other stores.
   */
  searchPending: { key: number; value: { seq?: number; ids: string[] } };
  searchSegments: { key: number; value: SegmentRow };
  searchPages: { key: [segment: number, part: number, page: number]; value: SearchPage };
  changes: {
    key: [store: string, key: string];
    value: ChangeRow;
    indexes: { own: [own: number, clock: string]; tombstones: [deleted: number, clock: string] };
  };
  local: { key: string; value: LocalRow };
}

/** A session's messages, by depth, in the index `branch`. */
export const getSessionRange = (sessionKey: string): IDBKeyRange => IDBKeyRange.bound([sessionKey], [sessionKey, []]);

export type StoreName = StoreNames<VaultSchema>;
/** Stores whose rows are records of the vault, one each. */
export type RecordStoreName = Exclude<SyncStore, 'sessions' | 'heads'>;

export type ReadTransaction = IDBPTransaction<VaultSchema, StoreName[], 'readonly'>;
export type WriteTransaction = IDBPTransaction<VaultSchema, StoreName[], 'readwrite'>;
export type UpgradeTransaction = IDBPTransaction<VaultSchema, StoreName[], 'versionchange'>;
