import { computeBackoff } from '#shared/async/backoff.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { HookEvent } from '#shared/rpc/methods/hook-contracts.ts';
import type { RpcError } from '#shared/rpc/rpc-error.ts';
import { explainUnreachable, type Fetch, FetchRefusedError } from '../../ports/fetch.ts';
import { getRetryAfter } from '../../providers/upstream-errors.ts';
import type { HookCallRecord, OutgoingHookRecord } from '../../storage/records/hook-records.ts';
import { HookCalls } from './hook-calls.ts';
import { ID_HEADER, SIGNATURE_HEADER, signMessage, TIMESTAMP_HEADER } from './standard-webhooks.ts';

const MIN_RETRY_MS = 5_000;
/** Age at which an event is given up. */
const MAX_AGE_MS = 24 * 3_600_000;
const TIMEOUT_MS = 10_000;
/** Maximum number of events of one hook that wait. */
const MAX_WAITING = 1_000;
const MAX_RETRY_AFTER_MS = 3_600_000;
/**
 * Stands for a public server: an address that it names is only requested if it is public too (`FetchInit.namedBy`). The name never exists
 * (RFC 6761).
 */
const PUBLIC_NAMER = 'https://hooks.invalid';

const OUTGOING: Pick<HookCallRecord, 'direction' | 'text' | 'error' | 'attempts' | 'status' | 'endedAt'> = {
  ...{ direction: 'out', text: '', error: null, attempts: 0, status: null, endedAt: null },
};

export interface OutgoingHooksDeps {
  clock: Clock;
  calls: HookCalls;
  fetch: Fetch;
  /** Origins that may be requested besides those of the settings. */
  activeOrigins: Set<string>;
  list(): Promise<OutgoingHookRecord[]>;
  find(name: string): Promise<OutgoingHookRecord | undefined>;
  /** Secrets that are valid now, the newest first. */
  getSecrets(hook: OutgoingHookRecord): Promise<string[]>;
  /** Turns a hook off whose receiver does not want any more events. */
  disable(name: string, problem: string): Promise<void>;
  /** Whether this host sends events. */
  isActive(): boolean;
  fault(error: unknown): RpcError;
}

/** Why an attempt failed. */
interface Failure {
  error: string;
  status: number | null;
  retryAfterMs?: number;
  /** Whether another attempt would fail too. */
  isFinal?: boolean;
  isGone?: boolean;
}

/** Sends events to the addresses of outgoing hooks, signed by Standard Webhooks, until the receiver accepts them. */
export class OutgoingHooks {
  readonly #deps: OutgoingHooksDeps;
  /** Ids of events that are being sent, with what follows the attempt. */
  readonly #active = new Map<string, Promise<void>>();
  readonly #stopping = new AbortController();
  #cancelTimer = (): void => {};

  constructor(deps: OutgoingHooksDeps) {
    this.#deps = deps;
  }

  stop(): void {
    this.#stopping.abort();
    this.#cancelTimer();
  }

  /** Queues an event for all hooks that report it. `key`: the same for the same occurrence, on all hosts. */
  async emit(event: HookEvent, key: string, at: number, createData: (hook: OutgoingHookRecord) => Promise<object>): Promise<void> {
    if (!this.#deps.isActive()) return;
    const hooks = (await this.#deps.list()).filter(
      ({ enabled, events, createdAt }) => enabled && createdAt <= at && events.includes(event),
    );
    for (const hook of hooks) await this.#add(hook, event, key, at, await createData(hook));
    if (hooks.length > 0) void this.start();
  }

  /** Sends a test event; resolves after the first attempt. */
  async test(hook: OutgoingHookRecord): Promise<HookCallRecord> {
    const { clock, calls } = this.#deps;
    const record = await this.#add(hook, 'hook.test', crypto.randomUUID(), clock.now(), { hook: hook.name });
    await this.#send(record);
    void this.start();
    return (await calls.get(record.id)) ?? record;
  }

  /** Sends events that are due, and schedules the next check. Never rejects. */
  async start(): Promise<void> {
    const { calls, clock, isActive, fault } = this.#deps;
    this.#cancelTimer();
    if (this.#stopping.signal.aborted || !isActive()) return;
    try {
      const busyHooks = new Set<string>();
      let next = Infinity;
      for (const call of await calls.listPending()) {
        if (call.direction !== 'out' || busyHooks.has(call.hook)) continue;
        const waitMs = (call.nextAttemptAt ?? 0) - clock.now();
        // A failing receiver gets one event at a time, the oldest first.
        if (call.attempts > 0 || this.#active.has(call.id)) busyHooks.add(call.hook);
        if (this.#active.has(call.id)) continue;
        if (waitMs > 0) next = Math.min(next, waitMs);
        else void this.#send(call).then(() => this.start());
      }
      if (next !== Infinity) {
        this.#cancelTimer();
        this.#cancelTimer = clock.after(next, () => void this.start());
      }
    } catch (error) {
      fault(error);
    }
  }

  async #add(hook: OutgoingHookRecord, type: string, key: string, at: number, data: object): Promise<HookCallRecord> {
    const { calls, clock } = this.#deps;
    const isFull = (await calls.listPending()).filter((call) => call.hook === hook.name).length >= MAX_WAITING;
    const record: HookCallRecord = {
      ...OUTGOING,
      ...{ id: await HookCalls.createId(hook.name, `${type} ${key}`), hook: hook.name, event: type, at },
      content: JSON.stringify({ type, timestamp: new Date(at).toISOString(), data }),
      ...(isFull
        ? { state: 'failed', endedAt: clock.now(), nextAttemptAt: null, error: `${MAX_WAITING} events are waiting already.` }
        : { state: 'waiting', nextAttemptAt: at }),
    };
    await calls.add(record);
    return record;
  }

  #send(call: HookCallRecord): Promise<void> {
    const sending =
      this.#active.get(call.id) ??
      this.#attempt(call)
        .catch((error: unknown) => void this.#deps.fault(error))
        .finally(() => this.#active.delete(call.id));
    this.#active.set(call.id, sending);
    return sending;
  }

  async #attempt(call: HookCallRecord): Promise<void> {
    const { calls, clock, find, disable } = this.#deps;
    const hook = await find(call.hook);
    if (!hook) return calls.removeAll(call.hook);
    if (!hook.enabled) return this.#end(call, { state: 'failed', error: 'The hook is turned off.' });
    const attempts = call.attempts + 1;
    const failure = await this.#request(hook, call).catch((error: unknown) => this.#toFailure(error, hook.url));
    // Stopping: the next host sends it, and the receiver knows repeated events by their id.
    if (this.#stopping.signal.aborted) return;
    if ('accepted' in failure)
      return this.#end(call, { state: 'completed', attempts, status: failure.accepted, error: null, content: undefined });
    const { error, status, isFinal, isGone } = failure;
    if (isGone) await disable(hook.name, 'The receiver does not accept events any more (410 Gone).');
    const nextAttemptAt = clock.now() + (failure.retryAfterMs ?? computeBackoff(attempts, MIN_RETRY_MS));
    if (isFinal || isGone || nextAttemptAt > call.at + MAX_AGE_MS) return this.#end(call, { state: 'failed', attempts, status, error });
    await calls.change(call.id, { state: 'waiting', attempts, status, error, nextAttemptAt });
  }

  async #end(call: HookCallRecord, change: Partial<HookCallRecord>): Promise<void> {
    await this.#deps.calls.change(call.id, { ...change, endedAt: this.#deps.clock.now(), nextAttemptAt: null });
  }

  async #request(hook: OutgoingHookRecord, { id, content = '' }: HookCallRecord): Promise<Failure | { accepted: number }> {
    const { fetch, clock, getSecrets, activeOrigins } = this.#deps;
    const messageId = `msg_${id.slice(id.indexOf('@') + 1)}`;
    const timestamp = String(Math.floor(clock.now() / 1000));
    const body = new TextEncoder().encode(content);
    const signatures = await Promise.all((await getSecrets(hook)).map((secret) => signMessage(secret, messageId, timestamp, body)));
    const timeout = new AbortController();
    const cancel = clock.after(TIMEOUT_MS, () => timeout.abort(new TypeError('it did not answer within 10 seconds')));
    const { origin } = new URL(hook.url);
    activeOrigins.add(hook.allowPrivate ? origin : PUBLIC_NAMER);
    try {
      const response = await fetch(hook.url, {
        method: 'POST',
        body: content,
        headers: {
          ...{ 'content-type': 'application/json', 'user-agent': 'Perch' },
          ...{ [ID_HEADER]: messageId, [TIMESTAMP_HEADER]: timestamp, [SIGNATURE_HEADER]: signatures.join(' ') },
        },
        ...(hook.allowPrivate ? {} : { namedBy: PUBLIC_NAMER }),
        signal: AbortSignal.any([timeout.signal, this.#stopping.signal]),
      });
      // Only the status counts; reading a long body would keep the connection.
      void response.body?.cancel().catch(() => {});
      return readResponse(response, clock.now());
    } finally {
      cancel();
      if (hook.allowPrivate) await this.#releaseOrigin(origin);
    }
  }

  /** Removes an origin of private hooks that no active request needs. */
  async #releaseOrigin(origin: string): Promise<void> {
    const hooks = await this.#deps.list();
    if (!hooks.some(({ url, allowPrivate }) => allowPrivate && new URL(url).origin === origin)) this.#deps.activeOrigins.delete(origin);
  }

  #toFailure(error: unknown, url: string): Failure {
    const status = null;
    const { host } = new URL(url);
    if (error instanceof FetchRefusedError) {
      const needsBridge = error.message.includes('need the bridge');
      return { status, error: `The event was not sent: ${error.message}`, isFinal: !needsBridge };
    }
    return {
      status,
      error: `Couldn’t reach ${host}: ${error instanceof TypeError && error.message ? error.message : explainUnreachable(error, url)}`,
    };
  }
}

function readResponse({ status, headers, type }: Response, now: number): Failure | { accepted: number } {
  if (status >= 200 && status < 300) return { accepted: status };
  // A browser does not tell more about a redirect that is not followed.
  if (type === 'opaqueredirect' || (status >= 300 && status < 400))
    return {
      status,
      error: 'The receiver redirects to another address. Redirects are not followed: enter the new address.',
      isFinal: true,
    };
  const retryAfterMs = getRetryAfter(headers, now);
  return {
    ...{ status, error: `The receiver answered with status ${status}.`, isGone: status === 410 },
    ...(retryAfterMs === undefined ? {} : { retryAfterMs: Math.min(MAX_RETRY_AFTER_MS, Math.max(MIN_RETRY_MS, retryAfterMs)) }),
  };
}
