import type { DBSchema, IDBPTransaction, StoreNames } from 'idb';
import type { Position } from '#shared/ports/journal.ts';
import type { FileRecord } from '#shared/rpc/methods/workspace.ts';
import type { Part } from '#shared/rpc/records.ts';
import type { ConflictCopy } from '#shared/sync/conflict.ts';
import type { SyncStore } from '#shared/sync/record.ts';
import type {
  Collections,
  LogRecord,
  MemoryRecord,
  MessageRecord,
  RunRecord,
  RunStep,
  SessionRecord,
  StepResult,
  UsageRecord,
} from '../core/vault.ts';

/** A secret as it lies on disk; `keyId` names the key that it was sealed with. */
export interface SealedSecret {
  name: string;
  keyId: string;
  iv: Uint8Array<ArrayBuffer>;
  data: ArrayBuffer;
}

/** The last change of one record. All rows of one transaction bear the same clock reading. */
export interface ChangeRow {
  store: SyncStore;
  key: string;
  /** A reading of the hybrid clock, which names its writer. */
  clock: string;
  /** Of a run: the fencing number that it was written under. */
  fence?: number;
  /** Written by this host; otherwise it came from the journal. A number for the index, which holds only such rows. */
  own?: 1;
  /** The record is gone. Likewise. */
  deleted?: 1;
  /** Of a change made here, in a store that keeps copies: the journal's version that it was made from (`SyncRecord.base`). */
  base?: string | null;
}

/** A part of a message whose bytes lie in `blobs`, under their SHA-256; its `data` is empty here. `length`: characters of the base64. */
export type StoredPart = Part & { hash?: string; length?: number };
/** A message as it lies on disk. `blobs`: the hashes of its parts. */
export type StoredMessage = Omit<MessageRecord, 'content'> & { content: string | StoredPart[]; blobs?: string[] };

/** Records that were committed together: a row for each would cost more than all else that a call does. */
export interface UsageGroup {
  /** The first record's. */
  id: string;
  /** The newest record's time. */
  until: number;
  records: UsageRecord[];
}

/** Rows that concern this copy alone. */
export type LocalRow =
  /** Its owner's epoch. */
  | { name: 'epoch'; value: number }
  /** Its own id. */
  | { name: 'replica'; value: string }
  /** How far it has read the journal. */
  | { name: 'position'; value: Position }
  /** Something before that position may have been passed over. */
  | { name: 'doubtful' }
  /** Server of a cluster that led the vault's stream when the copy was complete. */
  | { name: 'leader'; value: string }
  /** The newest reading of others that it has met: its own clock goes on behind it. */
  | { name: 'seen'; value: string }
  /** The newest of its own changes that the journal has. */
  | { name: 'pushed'; value: string }
  /** Left by a check of writing. */
  | { name: 'checked'; value: string }
  /** The index for search: what form it has, which one it is, its segments, and up to which message (by id; null: all) those that were there before it are in them. */
  | { name: 'search'; form: number; id: string; segments: number[]; filled: string | null };

/** A segment of the index for search: documents of `docs` messages, with `length` terms in all; the first term of each page of its dictionary. */
export interface SegmentRow {
  id: number;
  docs: number;
  length: number;
  terms: string[];
}

/** A page of a segment (search/pages.ts says of what). */
export interface SearchPage {
  segment: number;
  part: number;
  page: number;
  data: Uint8Array<ArrayBuffer> | string[];
}

/** The database as it is after the last migration. */
export interface Schema extends DBSchema {
  /** A row holds two records of the vault: the `sessions` entry and the `heads` one; count, size and preview are sums over its messages. */
  sessions: { key: string; value: SessionRecord };
  messages: {
    key: string;
    value: StoredMessage;
    indexes: { branch: [sessionKey: string, depth: number]; timestamp: number; blobs: string };
  };
  blobs: { key: string; value: { hash: string; bytes: Uint8Array<ArrayBuffer> } };
  /** `partial`: the text of a run that another host executes, over all of its steps; empty once it has ended. */
  runs: { key: string; value: RunRecord; indexes: { session: string; status: string } };
  /** One row for each run under way whose session still wants its text. */
  partials: { key: string; value: { runId: string; text: string } };
  /** Steps of runs that have a row in `partials`, and behind each the results that came. */
  runSteps: { key: [runId: string, at: number]; value: RunStep | StepResult };
  /** The configuration in pieces, so that changes of two devices meet only where they concern the same thing (config-rows.ts). */
  config: { key: string; value: { name: string; value: unknown } };
  secrets: { key: string; value: SealedSecret };
  keys: { key: string; value: { name: string; keyId: string; key: CryptoKey } };
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
  responses: { key: string; value: Collections['responses'] };
  conversations: { key: string; value: Collections['conversations'] };
  apiFiles: { key: string; value: Collections['apiFiles'] };
  systemEvents: { key: string; value: Collections['systemEvents'] };
  mcpTools: { key: string; value: Collections['mcpTools'] };
  channelStates: { key: string; value: Collections['channelStates'] };
  drawings: { key: string; value: Collections['drawings'] };
  drawingChanges: { key: string; value: Collections['drawingChanges'] };
  contentLabels: { key: string; value: Collections['contentLabels'] };
  fileVersions: { key: string; value: Collections['fileVersions'] };
  files: {
    key: string;
    value: FileRecord;
    indexes: { entry: [workspace: string, path: string, mimeType: string, size: number, modifiedAt: number] };
  };
  /** Log of this copy, a ring buffer, by number. */
  logs: { key: number; value: LogRecord };
  /** Messages that were stored or removed, by transaction, until the index for search has them on disk. Like its other stores of this copy alone. */
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
export const inSession = (sessionKey: string): IDBKeyRange => IDBKeyRange.bound([sessionKey], [sessionKey, []]);

export type StoreName = StoreNames<Schema>;
/** Stores whose rows are records of the vault, one each. */
export type PlainStore = Exclude<SyncStore, 'sessions' | 'heads'>;

export type ReadTransaction = IDBPTransaction<Schema, StoreName[], 'readonly'>;
export type WriteTransaction = IDBPTransaction<Schema, StoreName[], 'readwrite'>;
export type UpgradeTransaction = IDBPTransaction<Schema, StoreName[], 'versionchange'>;
