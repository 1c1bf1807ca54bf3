import { type Clock, every } from '#shared/async/clock.ts';
import { badRequest, HttpError } from '../http-error.ts';
import type { ResponseBuilder } from './response-builder.ts';
import type { ResponseStore } from './response-store.ts';
import type { ResponseEvent } from './output-builder.ts';
import type { ResponseRecord } from '../../../storage/records/response-record.ts';

/** Maximum number of responses created in the background at the same time. */
const MAX_RUNS = 64;
/** Interval at which a host records that it is still creating a response, and the time after which it counts as gone. */
const HEARTBEAT_MS = 20_000;
const STALE_MS = 60_000;
/** How long the events of the last finished responses can be read again. */
const REPLAY_MS = 5 * 60_000;
/** Maximum number of characters of events kept for one response. */
const MAX_EVENT_CHARS = 8 * 1024 * 1024;

const STALE_MESSAGE = 'The gateway stopped while it was making this response. Send the request again.';
const REVOKED_MESSAGE = 'The API key was revoked while the response was being made.';
const TOO_LARGE_MESSAGE = 'The response is too large to be stored.';

type NewResponseRecord = Omit<ResponseRecord, 'chars'>;

interface BackgroundDeps {
  store: Pick<ResponseStore, 'get' | 'put'>;
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
  #nextEvent = Promise.withResolvers<void>();
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

  enqueueWrite<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#writes.then(work);
    this.#writes = result.catch(() => {});
    return result;
  }

  addEvent({ type, ...rest }: ResponseEvent): void {
    if (type === 'response.in_progress') this.status = 'in_progress';
    const number = this.#first + this.#events.length;
    const text = `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number, ...rest })}\n\n`;
    this.#events.push(text);
    this.#chars += text.length;
    while (this.#chars > MAX_EVENT_CHARS && this.#events.length > 1) {
      this.#chars -= this.#events.shift()?.length ?? 0;
      this.#first++;
    }
    this.#notifyReaders();
  }

  close(): void {
    this.#isFinished = true;
    this.#finish();
    this.#notifyReaders();
  }

  /** The events after number `after`, as they arrive. Throws a 400 if some of them are no longer kept. */
  read(after: number): AsyncGenerator<string> {
    if (after + 1 < this.#first) throw badRequest('`starting_after` is too far back. Get the response without `stream`.', 'starting_after');
    return this.#streamFrom(after + 1);
  }

  async *#streamFrom(from: number): AsyncGenerator<string> {
    for (let next = from; ;) {
      // A reader that is too slow misses dropped events, as their numbers show.
      next = Math.max(next, this.#first);
      const text = this.#events[next - this.#first];
      if (text !== undefined) {
        next++;
        yield text;
      } else if (this.#isFinished) return;
      else await this.#nextEvent.promise;
    }
  }

  #notifyReaders(): void {
    this.#nextEvent.resolve();
    this.#nextEvent = Promise.withResolvers<void>();
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
  start({ id, principal }: NewResponseRecord, run: BackgroundRun, builder: ResponseBuilder, toError: (error: unknown) => HttpError): void {
    this.#runs.set(id, run);
    const [oldest, ...others] = [...this.#runs].filter(([, { isFinished }]) => isFinished);
    if (oldest && others.length >= MAX_RUNS) this.#runs.delete(oldest[0]);
    const stop = every(this.#deps.clock, HEARTBEAT_MS, () => void this.#sendHeartbeat(id, principal, run).catch(this.#deps.fault));
    void this.#run(run, builder, toError)
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
  store(run: BackgroundRun, record: NewResponseRecord): Promise<boolean> {
    return run.enqueueWrite(async () => {
      if (run.ending === 'removed') return false;
      if (await this.#deps.store.put(record)) return true;
      const error = { code: 'server_error', message: TOO_LARGE_MESSAGE };
      return this.#deps.store.put({ ...record, output: [], fields: { ...record.fields, status: 'failed', error, completed_at: null } });
    });
  }

  /** The current record: a response whose host is gone has failed. */
  async refresh(record: ResponseRecord): Promise<ResponseRecord> {
    if (!isUnfinished(record)) return record;
    const run = this.#runs.get(record.id);
    if (run && !run.isFinished) return { ...record, fields: { ...record.fields, status: run.status } };
    if (this.#deps.clock.now() - (record.aliveAt ?? record.createdAt) < STALE_MS) return record;
    const failed = { ...record, fields: { ...record.fields, status: 'failed', error: { code: 'server_error', message: STALE_MESSAGE } } };
    await this.#deps.store.put(failed);
    return failed;
  }

  async cancel(record: ResponseRecord): Promise<ResponseRecord> {
    const run = this.#runs.get(record.id);
    if (run) {
      if (!run.isFinished) run.end('cancelled');
      await run.finished;
      return (await this.#deps.store.get(record.id, record.principal)) ?? record;
    }
    const current = await this.refresh(record);
    if (!isUnfinished(current)) return current;
    // The host that creates the response will notice.
    const cancelled = { ...current, fields: { ...current.fields, status: 'cancelled' } };
    await this.#deps.store.put(cancelled);
    return cancelled;
  }

  /** Ends a deleted response. */
  remove(id: string): void {
    const run = this.#runs.get(id);
    if (run && !run.isFinished) run.end('removed');
    this.#runs.delete(id);
  }

  async #run(run: BackgroundRun, builder: ResponseBuilder, toError: (error: unknown) => HttpError): Promise<void> {
    try {
      for await (const event of builder.run()) run.addEvent(event);
    } catch (error) {
      if (run.ending === 'cancelled') run.addEvent(await builder.cancel());
      else if (run.ending === 'revoked') run.addEvent(await builder.fail(new HttpError(403, 'forbidden', REVOKED_MESSAGE)));
      else if (run.ending === undefined) run.addEvent(await builder.fail(toError(error)));
    }
  }

  /** Records that the response is still being created, and ends it if it was cancelled or deleted, or its key revoked. */
  #sendHeartbeat(id: string, principal: string, run: BackgroundRun): Promise<void> {
    return run.enqueueWrite(async () => {
      if (run.isFinished || run.ending !== undefined) return;
      const record = await this.#deps.store.get(id, principal);
      if (!record) return run.end('removed');
      if (record.fields['status'] === 'cancelled') return run.end('cancelled');
      if (!isUnfinished(record)) return;
      if (await this.#deps.isRevoked(principal)) return run.end('revoked');
      await this.#deps.store.put({ ...record, aliveAt: this.#deps.clock.now(), fields: { ...record.fields, status: run.status } });
    });
  }
}
