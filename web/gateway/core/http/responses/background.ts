import { type Clock, every } from '../../clock.ts';
import { badRequest, HttpError } from '../errors.ts';
import type { Answer } from './answer.ts';
import type { KeptResponses } from './kept.ts';
import type { ResponseEvent } from './output.ts';
import type { ResponseRecord } from './record.ts';

/** Maximum number of responses created in the background at the same time. */
const MAX_RUNS = 64;
/** Interval at which a host records that it is still creating a response, and the time after which it counts as gone. */
const BEAT_MS = 20_000;
const GONE_MS = 60_000;
/** How long the events of the last finished responses can be read again. */
const REPLAY_MS = 5 * 60_000;
/** Maximum number of characters of events kept for one response. */
const MAX_CHARS = 8 * 1024 * 1024;

const GONE = 'The gateway stopped while it was making this response. Send the request again.';
const REVOKED = 'The API key was revoked while the response was being made.';
const TOO_LARGE = 'The response is too large to be stored.';

type Stored = Omit<ResponseRecord, 'chars'>;

export interface BackgroundDeps {
  kept: Pick<KeptResponses, 'get' | 'put'>;
  clock: Clock;
  /** Whether the principal is a revoked API key. */
  isRevoked(principal: string): Promise<boolean>;
  fault(error: unknown): unknown;
}

/** Whether a response is not finished. */
export const isUnfinished = ({ fields }: ResponseRecord): boolean =>
  fields['background'] === true && (fields['status'] === 'queued' || fields['status'] === 'in_progress');

/** A response being created without a client. Its events can be read meanwhile, and for some time afterwards. */
export class BackgroundRun {
  readonly abort: AbortController;
  /** `queued` until the model answers. */
  status: 'queued' | 'in_progress' = 'queued';
  /** Reason to end early. */
  ending: 'cancelled' | 'removed' | 'revoked' | undefined;
  readonly finished: Promise<void>;
  readonly #finish: () => void;
  #isFinished = false;
  #events: string[] = [];
  /** Number of the first event that is still kept. */
  #first = 0;
  #chars = 0;
  #arrived = Promise.withResolvers<void>();
  /** Writes to its record, one after the other. */
  #writes: Promise<unknown> = Promise.resolve();

  constructor(abort: AbortController) {
    this.abort = abort;
    ({ promise: this.finished, resolve: this.#finish } = Promise.withResolvers<void>());
  }

  get isFinished(): boolean {
    return this.#isFinished;
  }

  end(ending: 'cancelled' | 'removed' | 'revoked'): void {
    this.ending ??= ending;
    this.abort.abort(new Error(`The response was ${ending}`));
  }

  write<T>(work: () => Promise<T>): Promise<T> {
    const written = this.#writes.then(work);
    this.#writes = written.catch(() => {});
    return written;
  }

  add({ type, ...rest }: ResponseEvent): void {
    if (type === 'response.in_progress') this.status = 'in_progress';
    const number = this.#first + this.#events.length;
    const text = `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number, ...rest })}\n\n`;
    this.#events.push(text);
    this.#chars += text.length;
    while (this.#chars > MAX_CHARS && this.#events.length > 1) {
      this.#chars -= this.#events.shift()?.length ?? 0;
      this.#first++;
    }
    this.#wake();
  }

  close(): void {
    this.#isFinished = true;
    this.#finish();
    this.#wake();
  }

  /** The events after number `after`, as they arrive. Throws a 400 if some of them are no longer kept. */
  read(after: number): AsyncGenerator<string> {
    if (after + 1 < this.#first) throw badRequest('`starting_after` is too far back. Get the response without `stream`.', 'starting_after');
    return this.#follow(after + 1);
  }

  async *#follow(from: number): AsyncGenerator<string> {
    for (let next = from; ;) {
      // A reader that is too slow misses dropped events, as their numbers show.
      next = Math.max(next, this.#first);
      const text = this.#events[next - this.#first];
      if (text !== undefined) {
        next++;
        yield text;
      } else if (this.#isFinished) return;
      else await this.#arrived.promise;
    }
  }

  #wake(): void {
    this.#arrived.resolve();
    this.#arrived = Promise.withResolvers<void>();
  }
}

/** Responses with `background: true` that this host is creating. */
export class BackgroundResponses {
  readonly #deps: BackgroundDeps;
  readonly #runs = new Map<string, BackgroundRun>();

  constructor(deps: BackgroundDeps) {
    this.#deps = deps;
  }

  /** Throws a 429 if too many are being created. */
  admit(): void {
    const running = [...this.#runs.values()].filter(({ isFinished }) => !isFinished).length;
    if (running >= MAX_RUNS)
      throw new HttpError(429, 'rate_limited', `At most ${MAX_RUNS} responses can run in the background at once. Try again later.`);
  }

  /** Starts to create a response whose record is stored. `toError` converts a failure for the client. */
  start({ id, principal }: Stored, run: BackgroundRun, answer: Answer, toError: (error: unknown) => HttpError): void {
    this.#runs.set(id, run);
    const [oldest, ...others] = [...this.#runs].filter(([, { isFinished }]) => isFinished);
    if (oldest && others.length >= MAX_RUNS) this.#runs.delete(oldest[0]);
    const stop = every(this.#deps.clock, BEAT_MS, () => void this.#beat(id, principal, run).catch(this.#deps.fault));
    void this.#make(run, answer, toError)
      .catch(this.#deps.fault)
      .finally(() => {
        stop();
        run.close();
        this.#deps.clock.after(REPLAY_MS, () => this.#runs.delete(id));
      });
  }

  get(id: string): BackgroundRun | undefined {
    return this.#runs.get(id);
  }

  /** Stores the result of a response, unless it was deleted. */
  keep(run: BackgroundRun, record: Stored): Promise<boolean> {
    return run.write(async () => {
      if (run.ending === 'removed') return false;
      if (await this.#deps.kept.put(record)) return true;
      const error = { code: 'server_error', message: TOO_LARGE };
      return this.#deps.kept.put({ ...record, output: [], fields: { ...record.fields, status: 'failed', error, completed_at: null } });
    });
  }

  /** The current record: a response whose host is gone has failed. */
  async current(record: ResponseRecord): Promise<ResponseRecord> {
    if (!isUnfinished(record)) return record;
    const run = this.#runs.get(record.id);
    if (run && !run.isFinished) return { ...record, fields: { ...record.fields, status: run.status } };
    if (this.#deps.clock.now() - (record.aliveAt ?? record.createdAt) < GONE_MS) return record;
    const failed = { ...record, fields: { ...record.fields, status: 'failed', error: { code: 'server_error', message: GONE } } };
    await this.#deps.kept.put(failed);
    return failed;
  }

  async cancel(record: ResponseRecord): Promise<ResponseRecord> {
    const run = this.#runs.get(record.id);
    if (run) {
      if (!run.isFinished) run.end('cancelled');
      await run.finished;
      return (await this.#deps.kept.get(record.id, record.principal)) ?? record;
    }
    const now = await this.current(record);
    if (!isUnfinished(now)) return now;
    // The host that creates the response will notice.
    const cancelled = { ...now, fields: { ...now.fields, status: 'cancelled' } };
    await this.#deps.kept.put(cancelled);
    return cancelled;
  }

  /** Ends a deleted response. */
  remove(id: string): void {
    const run = this.#runs.get(id);
    if (run && !run.isFinished) run.end('removed');
    this.#runs.delete(id);
  }

  async #make(run: BackgroundRun, answer: Answer, toError: (error: unknown) => HttpError): Promise<void> {
    try {
      for await (const event of answer.run()) run.add(event);
    } catch (error) {
      if (run.ending === 'cancelled') run.add(await answer.cancel());
      else if (run.ending === 'revoked') run.add(await answer.fail(new HttpError(403, 'forbidden', REVOKED)));
      else if (run.ending === undefined) run.add(await answer.fail(toError(error)));
    }
  }

  /** Records that the response is still being created, and ends it if it was cancelled or deleted, or its key revoked. */
  #beat(id: string, principal: string, run: BackgroundRun): Promise<void> {
    return run.write(async () => {
      if (run.isFinished || run.ending !== undefined) return;
      const record = await this.#deps.kept.get(id, principal);
      if (!record) return run.end('removed');
      if (record.fields['status'] === 'cancelled') return run.end('cancelled');
      if (!isUnfinished(record)) return;
      if (await this.#deps.isRevoked(principal)) return run.end('revoked');
      await this.#deps.kept.put({ ...record, aliveAt: this.#deps.clock.now(), fields: { ...record.fields, status: run.status } });
    });
  }
}
