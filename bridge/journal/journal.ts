import type { ClusterFacts } from '#shared/ports/cluster.ts';
import type { JournalInfo, Position, SequencedRecord } from '#shared/ports/journal.ts';
import type { LeaseWanted } from '#shared/sync/lease.ts';
import type { SyncRecord } from '#shared/sync/record.ts';

export interface Replica {
  origin: string;
  schema: number;
  position: Position | null;
}

export interface Opened {
  /** See `journal.open` in shared/ports/journal.ts. */
  position: Position;
  head: number;
  schema: number;
  wantsAll: boolean;
  stale: boolean;
}

export interface JournalEvents {
  /** Something was stored, by whomever (another process too). */
  changed: [head: number];
  /** The file was damaged or is gone; an empty or salvaged one with another id has taken its place. */
  replaced: [reason: string];
}

/**
 * The vault's journal on disk: the last version of each record, in the order in which they were accepted (design.md, "One vault"). The embedded engine is
 * SQLite; a distributed one will implement the same. A failure to write is a `JournalFull` or a `JournalFailed`, and nothing of it was stored.
 */
export interface Journal extends AsyncDisposable {
  readonly path: string;
  /** The newest sequence number, known without waiting. */
  readonly head: number;
  on<E extends keyof JournalEvents>(event: E, listener: (...args: JournalEvents[E]) => void): void;
  off<E extends keyof JournalEvents>(event: E, listener: (...args: JournalEvents[E]) => void): void;
  open(replica: Replica): Promise<Opened>;
  /** Records after a sequence number, in order; `except`: those that this origin pushed are left out. */
  pull(after: number, limit: number, except?: string): Promise<{ records: SequencedRecord[]; next: number; head: number }>;
  /**
   * The records, tombstones too, as they are at the first `next`, whatever is written meanwhile, by store and key. Memory stays bounded; `return` (or the
   * end) lets go of what it holds.
   */
  snapshot(): AsyncIterableIterator<SequencedRecord>;
  /**
   * Merges (shared/sync/conflict.ts), and resolves when it is on disk. All of one push or nothing, however many. Pushes that come together are committed
   * together.
   */
  push(records: readonly SyncRecord[], pusher: string): Promise<Pushed>;
  /**
   * The new fence, higher than every earlier one of this name; null: somebody else's, or `presumed`'s while that one is among `present`. `present` is null
   * just after a start, when nobody can be said to be gone.
   */
  takeLease(lease: LeaseWanted): Promise<number | null>;
  releaseLease(name: string, holder: string, fence: number): Promise<void>;
  /** Stores bytes under their SHA-256; rejects where they do not have it. */
  putBlob(hash: string, bytes: Uint8Array): Promise<void>;
  getBlob(hash: string): Promise<Uint8Array | undefined>;
  info(): Promise<JournalInfo>;
  /** How it stands with the other machines of the vault; missing where it is on this one alone. */
  examine?(): Promise<ClusterFacts>;
  close(): Promise<void>;
}

/** The disk has no room for it. */
export interface Pushed {
  before: number;
  last: number;
  conflicts: number;
  /** The disk is full; space that was set aside has been used. */
  low?: boolean;
}

export class JournalFull extends Error {
  override name = 'JournalFull';
}

/** The journal cannot take or give anything; the message says why. */
export class JournalFailed extends Error {
  override name = 'JournalFailed';
}
