import type { Change } from '#shared/canvas/change.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';

/**
 * Maximum characters of JSON per call; a longer change is sent on its own. The gateway also counts the values of frames above a million
 * characters.
 */
const MAX_BATCH_CHARS = 800_000;
const MAX_BATCH_CHANGES = 2_000;
/** Delay before a retry if the gateway does not specify one. */
const RETRY_MS = 1_000;

/** Storage for unsent changes, which survives a reload. */
export interface ChangeStore {
  /** Stores changes. Returns a function that deletes them. */
  store(changes: readonly Change[]): Promise<() => Promise<void>>;
}

interface QueuedChanges {
  readonly changes: readonly Change[];
  readonly stored: Promise<(() => Promise<void>) | undefined>;
}

interface QueueOptions {
  /** Sends changes to the gateway; resolves once it has stored them. */
  readonly send: (changes: readonly Change[]) => Promise<unknown>;
  readonly store: ChangeStore;
  /** `error`: reason why sending has stopped; undefined if it has not. */
  readonly onState: (state: { readonly waiting: number; readonly error?: unknown }) => void;
}

/**
 * Sends one person's changes to the gateway: in order, one call at a time, without loss. Failed changes stay queued until `flush`, or are
 * retried automatically if the gateway marks the error as retryable. Sending a change twice is harmless: the later time wins.
 */
export class ChangeQueue {
  readonly #options: QueueOptions;
  #waiting: QueuedChanges[] = [];
  #sending = false;
  #stopped = false;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  add(changes: readonly Change[]): void {
    this.#enqueue({ changes, stored: this.#options.store.store(changes).catch(() => undefined) });
  }

  /** Adds changes left by an earlier visit. */
  addStored(changes: readonly Change[], forget: () => Promise<void>): void {
    this.#enqueue({ changes, stored: Promise.resolve(forget) });
  }

  /** Resumes sending. */
  flush(): void {
    this.#stopped = false;
    void this.#send();
  }

  #enqueue(entry: QueuedChanges): void {
    this.#waiting.push(entry);
    if (!this.#stopped) void this.#send();
  }

  async #send(): Promise<void> {
    if (this.#sending) return;
    this.#sending = true;
    try {
      // Changes of the same task are sent together.
      await Promise.resolve();
      while (this.#waiting.length > 0) {
        this.#options.onState({ waiting: this.#waiting.length });
        const batch = this.#takeBatch();
        await this.#options.send(batch.flatMap(({ changes }) => changes));
        this.#waiting = this.#waiting.slice(batch.length);
        for (const { stored } of batch) void stored.then((forget) => forget?.()).catch(() => {});
      }
      this.#options.onState({ waiting: 0 });
    } catch (error) {
      this.#stopped = true;
      if (error instanceof RpcError && error.extra.retryable) setTimeout(() => this.flush(), error.extra.retryAfterMs ?? RETRY_MS);
      this.#options.onState({ waiting: this.#waiting.length, error });
    } finally {
      this.#sending = false;
    }
  }

  #takeBatch(): QueuedChanges[] {
    const batch: QueuedChanges[] = [];
    let [chars, count] = [0, 0];
    for (const entry of this.#waiting) {
      chars += JSON.stringify(entry.changes).length;
      count += entry.changes.length;
      if (batch.length > 0 && (chars > MAX_BATCH_CHARS || count > MAX_BATCH_CHANGES)) break;
      batch.push(entry);
    }
    return batch;
  }
}
