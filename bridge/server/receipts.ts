import { setTimeout as later } from 'node:timers';
import { setTimeout } from 'node:timers/promises';
import { fetchOver } from '#shared/link/http.ts';
import { type Receipt, RECEIPTS_KIND } from '#shared/link/splice.ts';
import type { Hosts } from './hosts.ts';

/** Receipts kept for a host to come; beyond that the oldest are given up. */
const KEPT = 10_000;
/** Receipts told at once. */
const BATCH = 500;
/** Milliseconds that one waits for others to be told with: each telling is a transaction. */
const GROUP_MS = 50;
const ANSWER_MS = 10_000;

/** What spliced calls have used: kept here, and told to the serving host again and again, until one has stored it. */
export class Receipts {
  readonly #hosts: Hosts;
  readonly #retryMs: number;
  readonly #log: (line: string) => void;
  readonly #waiting = new Map<string, Receipt>();
  #telling: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #refused = false;
  readonly #closing = Promise.withResolvers<void>();
  #closed = false;

  constructor({ hosts, retryMs, log }: { hosts: Hosts; retryMs: number; log(line: string): void }) {
    this.#hosts = hosts;
    this.#retryMs = retryMs;
    this.#log = log;
    hosts.on('attach', () => this.#tell());
  }

  /** Receipts that no host has stored yet. */
  get waiting(): number {
    return this.#waiting.size;
  }

  add(receipt: Receipt): void {
    this.#waiting.set(receipt.call.id, receipt);
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > KEPT && oldest !== undefined) {
      this.#waiting.delete(oldest);
      this.#log('no host takes what calls have used: the oldest record of it is given up');
    }
    this.#tell();
  }

  /** Waits for what is being told, for `ms` at the most; nothing is told again after that. */
  async close(ms: number): Promise<void> {
    this.#closed = true;
    this.#closing.resolve();
    clearTimeout(this.#retry);
    await Promise.race([this.#telling, setTimeout(ms, undefined, { ref: false })]);
  }

  #tell(): void {
    this.#telling ??= this.#tellAll()
      .catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        if (!this.#refused) this.#log(`a host did not take what calls have used, and is told again: ${reason}`);
        this.#refused = true;
        clearTimeout(this.#retry);
        if (this.#closed) return;
        this.#retry = later(() => this.#tell(), this.#retryMs).unref();
      })
      .finally(() => (this.#telling = undefined));
  }

  async #tellAll(): Promise<void> {
    while (this.#waiting.size > 0) {
      await Promise.race([setTimeout(GROUP_MS, undefined, { ref: false }), this.#closing.promise]);
      const mux = this.#hosts.current;
      if (!mux) return;
      const batch = [...this.#waiting.values()].slice(0, BATCH);
      const body = JSON.stringify(batch);
      const answer = await fetchOver(
        mux,
        { kind: RECEIPTS_KIND },
        { method: 'POST', body, headers: { 'content-type': 'application/json' }, signal: AbortSignal.timeout(ANSWER_MS) },
      );
      if (!answer.ok) throw new Error(`it answered ${answer.status}`);
      this.#refused = false;
      for (const { call } of batch) this.#waiting.delete(call.id);
    }
  }
}
