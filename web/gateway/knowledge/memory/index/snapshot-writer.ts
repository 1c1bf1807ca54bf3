import { TimeSlicer } from '#shared/async/time-slicer.ts';
import type { SnapshotStore } from './index-store.ts';

/**
 * Minimum number of changed passages, and share of all, before a background snapshot. Analysing them again takes a fraction of a second.
 */
const MIN_CHANGES = 500;
const MIN_CHANGED_SHARE = 1 / 50;
/** Minimum share of changed passages for a snapshot when the process ends. */
const MIN_CHANGED_SHARE_AT_END = 1 / 200;

/** Writes snapshots of an index to its store: in the background once enough has changed, and on close. */
export class SnapshotWriter {
  readonly #store: SnapshotStore | undefined;
  readonly #createSnapshot: (slicer: TimeSlicer) => Promise<Uint8Array<ArrayBuffer>>;
  readonly #size: () => number;
  readonly #warn: (message: string) => void;
  readonly #closed = new AbortController();
  /** Number of passages added or removed since the stored snapshot. */
  #unsaved = 0;
  /** Number of changes required for the next snapshot. */
  #changeThreshold = MIN_CHANGES;
  #writing: Promise<void> | undefined;
  /** Number of calls of `replace`, and of those that a written snapshot has answered. */
  #replaceCalls = 0;
  #answeredCalls = 0;

  /** `make` returns a snapshot of the current state; `size`: number of passages in the index. */
  constructor(
    store: SnapshotStore | undefined,
    {
      make,
      size,
      warn,
    }: { make: (slicer: TimeSlicer) => Promise<Uint8Array<ArrayBuffer>>; size: () => number; warn: (message: string) => void },
  ) {
    [this.#store, this.#createSnapshot, this.#size, this.#warn] = [store, make, size, warn];
  }

  /** Counts a passage that was added or removed. */
  changed(): void {
    this.#unsaved++;
  }

  /** Starts a background snapshot if enough has changed. Call it when the index is consistent. */
  look(): void {
    if (this.#writing || this.#unsaved < Math.max(this.#changeThreshold, MIN_CHANGED_SHARE * this.#size())) return;
    this.#start();
  }

  /** Replaces the stored snapshot in the background, however little has changed: it contains what was removed. */
  replace(): void {
    this.#replaceCalls++;
    if (!this.#writing) this.#start();
  }

  #start(): void {
    const calls = this.#replaceCalls;
    this.#writing = this.#write(this.#closed.signal).finally(() => {
      this.#writing = undefined;
      if (this.#replaceCalls > calls && !this.#closed.signal.aborted) this.#start();
    });
  }

  /** Writes a last snapshot if enough has changed. */
  async close(): Promise<void> {
    this.#closed.abort(new Error('The memory was closed.'));
    await this.#writing;
    const isOutdated = this.#replaceCalls > this.#answeredCalls;
    if (isOutdated || (this.#unsaved > 0 && this.#unsaved >= MIN_CHANGED_SHARE_AT_END * this.#size()))
      await this.#write(new AbortController().signal);
  }

  /** Best effort: a failed write only slows the next start. */
  async #write(signal: AbortSignal): Promise<void> {
    if (!this.#store) return;
    const [unsaved, calls] = [this.#unsaved, this.#replaceCalls];
    this.#changeThreshold = unsaved + MIN_CHANGES;
    try {
      const bytes = await this.#createSnapshot(new TimeSlicer(signal));
      signal.throwIfAborted();
      await this.#store.putSnapshot(bytes);
      this.#unsaved -= unsaved;
      this.#answeredCalls = calls;
      this.#changeThreshold = MIN_CHANGES;
    } catch (error) {
      if (signal.aborted) return;
      this.#warn(`Could not save the memory index; the next start takes longer: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
