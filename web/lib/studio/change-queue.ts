import type { Change } from '#shared/canvas/change.ts';
import { RpcError } from '#shared/rpc/errors.ts';

/**
 * Maximum characters of JSON per call; a longer change is sent on its own. The gateway also counts the values of frames above a million
 * characters.
 */
const BATCH_CHARS = 800_000;
const BATCH_COUNT = 2_000;
/** Delay before a retry if the gateway does not specify one. */
const AGAIN_MS = 1_000;

/** Storage for changes that wait, over a reload, until the gateway has them. */
export interface KeptChanges {
  /** Keeps some; the result forgets them. */
  keep(changes: readonly Change[]): Promise<() => Promise<void>>;
}

interface Entry {
  readonly changes: readonly Change[];
  readonly kept: Promise<(() => Promise<void>) | undefined>;
}

interface QueueOptions {
  /** Hands changes to the gateway; resolves once it has stored them. */
  readonly send: (changes: readonly Change[]) => Promise<unknown>;
  readonly kept: KeptChanges;
  /** `error`: why it has stopped; undefined while all is well. */
  readonly onState: (state: { readonly waiting: number; readonly error?: unknown }) => void;
}

/**
 * Sends one person's changes to the gateway: in order, one call at a time, without loss. Failed changes stay queued until `flush`, or are
 * retried automatically if the gateway marks the error as retryable. Sending a change twice is harmless: the later time wins.
 */
export class ChangeQueue {
  readonly #options: QueueOptions;
  #waiting: Entry[] = [];
  #sending = false;
  #stopped = false;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  add(changes: readonly Change[]): void {
    this.#put({ changes, kept: this.#options.kept.keep(changes).catch(() => undefined) });
  }

  /** Adds changes left by an earlier visit. */
  addKept(changes: readonly Change[], forget: () => Promise<void>): void {
    this.#put({ changes, kept: Promise.resolve(forget) });
  }

  /** Goes on after it had stopped. */
  flush(): void {
    this.#stopped = false;
    void this.#send();
  }

  #put(entry: Entry): void {
    this.#waiting.push(entry);
    if (!this.#stopped) void this.#send();
  }

  async #send(): Promise<void> {
    if (this.#sending) return;
    this.#sending = true;
    try {
      // Changes of one step of the page are sent together.
      await Promise.resolve();
      while (this.#waiting.length > 0) {
        this.#options.onState({ waiting: this.#waiting.length });
        const batch = this.#batch();
        await this.#options.send(batch.flatMap(({ changes }) => changes));
        this.#waiting = this.#waiting.slice(batch.length);
        for (const { kept } of batch) void kept.then((forget) => forget?.()).catch(() => {});
      }
      this.#options.onState({ waiting: 0 });
    } catch (error) {
      this.#stopped = true;
      if (error instanceof RpcError && error.extra.retryable) setTimeout(() => this.flush(), error.extra.retryAfterMs ?? AGAIN_MS);
      this.#options.onState({ waiting: this.#waiting.length, error });
    } finally {
      this.#sending = false;
    }
  }

  #batch(): Entry[] {
    const batch: Entry[] = [];
    let [chars, count] = [0, 0];
    for (const entry of this.#waiting) {
      chars += JSON.stringify(entry.changes).length;
      count += entry.changes.length;
      if (batch.length > 0 && (chars > BATCH_CHARS || count > BATCH_COUNT)) break;
      batch.push(entry);
    }
    return batch;
  }
}
