import { z } from '#shared/rpc/zod.ts';

/** Number of senders whose position is kept. */
const MAX_SENDERS = 200;
/** How much older than the sender's newest message a message may be. The ids of messages within that time are kept with the channel. */
const LATE_S = 3600;
/** Length of the part of a key that tells senders apart. */
const KEY_CHARS = 16;

const stored = z.record(z.string(), z.number());

/** Time of each sender's newest message, since relays send the messages of two days again. */
export class SenderPositions {
  readonly #times: Map<string, number>;
  /** Messages of unknown senders are new from this time on, in seconds. */
  readonly #start: number;

  constructor(start: number, text = '{}') {
    this.#start = start;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      // Begins again.
    }
    this.#times = new Map(Object.entries(stored.safeParse(value).data ?? {}));
  }

  /** Whether a message is new; then it counts from now on. */
  admit(publicKey: string, time: number): boolean {
    const key = publicKey.slice(0, KEY_CHARS);
    const before = this.#times.get(key);
    if (time < (before === undefined ? this.#start : Math.max(this.#start, before - LATE_S))) return false;
    this.#times.delete(key);
    this.#times.set(key, Math.max(before ?? 0, time));
    const [oldest] = this.#times.keys();
    if (this.#times.size > MAX_SENDERS && oldest !== undefined) this.#times.delete(oldest);
    return true;
  }

  toText(): string {
    return JSON.stringify(Object.fromEntries(this.#times));
  }
}
