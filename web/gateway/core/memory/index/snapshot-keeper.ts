import { Breath } from '../../documents/breath.ts';
import type { IndexStore } from './index-store.ts';

/** Passages that change before a snapshot is written anew in the background: so many at least, and this share of all. To analyse them again takes a part of a second. */
const LEAST = 500;
const SHARE = 1 / 50;
/** The share at the end of a process, which can wait for it. */
const SHARE_AT_END = 1 / 200;

/** Writes snapshots of an index to its store: in the background when enough has changed, and at the end. */
export class SnapshotKeeper {
  readonly #store: IndexStore | undefined;
  readonly #make: (breath: Breath) => Promise<Uint8Array<ArrayBuffer>>;
  readonly #size: () => number;
  readonly #warn: (message: string) => void;
  readonly #closed = new AbortController();
  /** Passages that were added or removed since what the store has. */
  #unsaved = 0;
  /** How many there must be for the next one. */
  #due = LEAST;
  #writing: Promise<void> | undefined;

  /** `make` gives a snapshot of the moment at which it is called; `size`: passages in the index. */
  constructor(
    store: IndexStore | undefined,
    {
      make,
      size,
      warn,
    }: { make: (breath: Breath) => Promise<Uint8Array<ArrayBuffer>>; size: () => number; warn: (message: string) => void },
  ) {
    [this.#store, this.#make, this.#size, this.#warn] = [store, make, size, warn];
  }

  /** One passage was added or removed. */
  changed(): void {
    this.#unsaved++;
  }

  /** Begins to write one, if it is time; what is indexed is whole now. */
  look(): void {
    if (this.#writing || this.#unsaved < Math.max(this.#due, SHARE * this.#size())) return;
    this.#writing = this.#write(this.#closed.signal).finally(() => (this.#writing = undefined));
  }

  /** Writes what is worth it. */
  async close(): Promise<void> {
    this.#closed.abort(new Error('The memory was closed.'));
    await this.#writing;
    if (this.#unsaved > 0 && this.#unsaved >= SHARE_AT_END * this.#size()) await this.#write(new AbortController().signal);
  }

  /** One that cannot be written makes the next start longer, and nothing is lost. */
  async #write(signal: AbortSignal): Promise<void> {
    if (!this.#store) return;
    const unsaved = this.#unsaved;
    this.#due = unsaved + LEAST;
    try {
      const bytes = await this.#make(new Breath(signal));
      signal.throwIfAborted();
      await this.#store.putSnapshot(bytes);
      this.#unsaved -= unsaved;
      this.#due = LEAST;
    } catch (error) {
      if (signal.aborted) return;
      this.#warn(`Could not save the memory index; the next start takes longer: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
