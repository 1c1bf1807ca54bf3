import type { ClusterReport } from '#shared/ports/cluster-report.ts';
import type { JournalPosition, SequencedRecord } from '#shared/ports/journal-port.ts';
import type { JournalInfo } from '#shared/ports/journal-info.ts';
import type { LeaseRequest } from '#shared/sync/lease-request.ts';
import type { SyncRecord } from '#shared/sync/record.ts';

export interface ReplicaRequest {
  origin: string;
  schema: number;
  position: JournalPosition | null;
}

export interface OpenedJournal {
  /** See `journal.open` in shared/ports/journal-port.ts. */
  position: JournalPosition;
  head: number;
  schema: number;
  wantsAll: boolean;
  stale: boolean;
}

export interface JournalEvents {
  /** Data was stored, by this or another process. */
  changed: [head: number];
  /** The file was damaged or is gone; an empty or salvaged one with another id has replaced it. */
  replaced: [reason: string];
}

/**
 * The vault's journal on disk: the last version of each record, in the order of acceptance. The embedded engine is SQLite. A failed write
 * rejects with `JournalFullError` or `JournalError` and stores nothing.
 */
export interface Journal extends AsyncDisposable {
  readonly path: string;
  /** Newest sequence number, available synchronously. */
  readonly head: number;
  on<E extends keyof JournalEvents>(event: E, listener: (...args: JournalEvents[E]) => void): void;
  off<E extends keyof JournalEvents>(event: E, listener: (...args: JournalEvents[E]) => void): void;
  open(replica: ReplicaRequest): Promise<OpenedJournal>;
  /** Records after a sequence number, in order. `except`: skips records pushed by this origin. */
  pull(after: number, limit: number, except?: string): Promise<{ records: SequencedRecord[]; next: number; head: number }>;
  /**
   * Iterates over all records including tombstones, by store and key, as of the first `next`, regardless of later writes. Uses bounded
   * memory. `return` (or the end) releases its resources.
   */
  snapshot(): AsyncIterableIterator<SequencedRecord>;
  /**
   * Merges records (shared/sync/conflict.ts) and resolves once they are on disk. A push is atomic. Concurrent pushes are committed
   * together.
   */
  push(records: readonly SyncRecord[], pusher: string): Promise<PushResult>;
  /**
   * Returns the new fence, higher than every earlier one of this name. Null if another holder has the lease, or `presumed` has it while it
   * is among `present`. `present` is null just after a start, when absence can't be determined.
   */
  takeLease(lease: LeaseRequest): Promise<number | null>;
  releaseLease(name: string, holder: string, fence: number): Promise<void>;
  /** Stores bytes under their SHA-256. Rejects if they do not have that hash. */
  putBlob(hash: string, bytes: Uint8Array): Promise<void>;
  getBlob(hash: string): Promise<Uint8Array | undefined>;
  info(): Promise<JournalInfo>;
  /** Facts about the vault's cluster; missing if the vault is on this machine only. */
  examine?(): Promise<ClusterReport>;
  close(): Promise<void>;
}

/** The disk has no space for the write. */
export interface PushResult {
  before: number;
  last: number;
  conflicts: number;
  /** The disk is full and the reserved space has been used. */
  low?: boolean;
}

export class JournalFullError extends Error {
  override name = 'JournalFullError';
}

/** The journal can't be read or written; the message says why. */
export class JournalError extends Error {
  override name = 'JournalError';
}
