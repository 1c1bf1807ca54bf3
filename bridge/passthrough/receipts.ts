import { setTimeout as setTimer } from 'node:timers';
import { setTimeout } from 'node:timers/promises';
import { fetchOverStream } from '#shared/link/stream-http.ts';
import { type UsageReceipt, USAGE_RECEIPTS_KIND } from '#shared/link/splice.ts';
import type { HostRegistry } from '../server/hosts.ts';
import { ReceiptFile } from './receipt-file.ts';

/** Maximum number of receipts kept for the next host; beyond that the oldest are dropped. */
const MAX_PENDING = 10_000;
/** Maximum number of receipts per message. */
const MAX_BATCH = 500;
/** Time to wait for further receipts before sending, since the host needs a transaction for each message. */
const GROUP_MS = 50;
const HOST_RESPONSE_MS = 10_000;
/** Delay in milliseconds before untaken receipts are written to disk. Most are taken before that. */
const WRITE_MS = 250;

interface ReceiptsDeps {
  hosts: HostRegistry;
  retryMs: number;
  log(line: string): void;
}

/**
 * Usage of responses that bypassed the host. Kept in memory and, if no host takes it soon, in a file. Sent to the active host repeatedly
 * until one has stored it.
 */
export class ReceiptQueue {
  readonly #hosts: HostRegistry;
  readonly #retryMs: number;
  readonly #log: (line: string) => void;
  readonly #file: ReceiptFile;
  readonly #waiting = new Map<string, UsageReceipt>();
  /** Ids of the receipts in the file. */
  readonly #written = new Set<string>();
  #write: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #refused = false;
  readonly #closing = Promise.withResolvers<void>();
  #closed = false;

  private constructor({ hosts, retryMs, log }: ReceiptsDeps, file: ReceiptFile) {
    this.#file = file;
    this.#hosts = hosts;
    this.#retryMs = retryMs;
    this.#log = log;
    hosts.on('attach', () => this.#send());
  }

  /** Opens the file at `path`, including receipts that an earlier bridge could not deliver. */
  static async open({ path, ...deps }: ReceiptsDeps & { path: string }): Promise<ReceiptQueue> {
    const file = new ReceiptFile(path, deps.log);
    const receipts = new ReceiptQueue(deps, file);
    for (const receipt of (await file.read()).slice(-MAX_PENDING)) {
      receipts.#waiting.set(receipt.call.id, receipt);
      receipts.#written.add(receipt.call.id);
    }
    await receipts.#tidy();
    return receipts;
  }

  /** Number of receipts that no host has stored yet. */
  get waiting(): number {
    return this.#waiting.size;
  }

  add(receipt: UsageReceipt): void {
    this.#waiting.set(receipt.call.id, receipt);
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > MAX_PENDING && oldest !== undefined) {
      this.#forget([oldest]);
      this.#log('No host accepts usage records. Discarded the oldest one');
    }
    if (!this.#closed) this.#write ??= setTimer(() => void this.writeDown(), WRITE_MS).unref();
    this.#send();
  }

  /** Waits up to `ms` milliseconds for a delivery in progress. Nothing is sent after that. */
  async close(ms: number): Promise<void> {
    this.#closed = true;
    this.#closing.resolve();
    clearTimeout(this.#retry);
    await Promise.race([this.#sending, setTimeout(ms, undefined, { ref: false })]);
  }

  /** Resolves when all pending receipts are in the file and no write is in progress. */
  async writeDown(): Promise<void> {
    clearTimeout(this.#write);
    this.#write = undefined;
    const unwritten = [...this.#waiting.values()].filter(({ call }) => !this.#written.has(call.id));
    for (const { call } of unwritten) this.#written.add(call.id);
    if (unwritten.length > 0 && !(await this.#file.append(unwritten))) for (const { call } of unwritten) this.#written.delete(call.id);
    await this.#tidy();
    await this.#file.idle();
  }

  #forget(ids: readonly string[]): void {
    for (const id of ids) {
      this.#waiting.delete(id);
      this.#written.delete(id);
    }
  }

  /** Deletes the file if it has no pending receipts, and rewrites it if most of them are stored by a host. */
  async #tidy(): Promise<void> {
    if (this.#written.size === 0 ? this.#file.lines > 0 : this.#file.lines > 2 * MAX_PENDING)
      await this.#file.replace([...this.#waiting.values()].filter(({ call }) => this.#written.has(call.id)));
  }

  #send(): void {
    this.#sending ??= this.#sendAll()
      .catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        if (!this.#refused) this.#log(`A host didn’t accept usage records. Retrying: ${reason}`);
        this.#refused = true;
        clearTimeout(this.#retry);
        if (this.#closed) return;
        this.#retry = setTimer(() => this.#send(), this.#retryMs).unref();
      })
      .finally(() => (this.#sending = undefined));
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.size > 0) {
      await Promise.race([setTimeout(GROUP_MS, undefined, { ref: false }), this.#closing.promise]);
      const mux = this.#hosts.current;
      if (!mux) return;
      const batch = [...this.#waiting.values()].slice(0, MAX_BATCH);
      const body = JSON.stringify(batch);
      const answer = await fetchOverStream(
        mux,
        { kind: USAGE_RECEIPTS_KIND },
        { method: 'POST', body, headers: { 'content-type': 'application/json' }, signal: AbortSignal.timeout(HOST_RESPONSE_MS) },
      );
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      this.#refused = false;
      this.#forget(batch.map(({ call }) => call.id));
      await this.#tidy();
    }
  }
}
