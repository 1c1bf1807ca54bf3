import { formatErrorBody } from '#shared/http/error-body.ts';
import { MAX_HOOK_BODY_BYTES, parseHookPath } from '#shared/http/hook-path.ts';
import type { HookPreset, IncomingHook } from '#shared/rpc/methods/hook-contracts.ts';
import { truncateText } from '#shared/truncate-text.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { IncomingHookRecord, HookCallRecord } from '../../storage/records/hook-records.ts';
import { RateLimit } from '../../system/rate-limit.ts';
import { HookCalls } from './hook-calls.ts';
import { parseBody } from './parse-body.ts';
import type { CallSummary } from './presets/preset.ts';
import { PRESETS } from './presets/index.ts';
import { renderTemplate } from './render-template.ts';
import { verifyCall, type IncomingCall } from './verify-call.ts';

/** Calls that one hook accepts. */
const CALL_LIMIT = { perMinute: 60, burst: 60 };
/** Maximum number of calls of one hook that wait. */
const MAX_WAITING = 200;
const MAX_PREVIEW_CHARS = 500;
/** Compared instead of the secret of a hook that does not exist, so that the time does not tell. */
const NO_SECRET = 'a hook with this name does not exist';
/** The same for a wrong secret and for a hook that does not exist. */
const UNAUTHORIZED = 'There is no such hook, or the secret or signature is missing or wrong.';

interface IncomingHooksDeps {
  clock: Clock;
  calls: HookCalls;
  /** Undefined if there is no such hook. */
  find(name: string): Promise<IncomingHookRecord | undefined>;
  /** Secrets that are valid now. */
  getSecrets(hook: IncomingHookRecord): Promise<string[]>;
  /** Called when a call waits to be handled. */
  onAdded(): void;
}

interface HookState {
  limit: RateLimit;
  rejected: IncomingHook['rejected'];
}

/** Answers requests to `/hooks/<name>`: checks who sends them, and stores the calls. */
export class IncomingHooks {
  readonly #deps: IncomingHooksDeps;
  readonly #states = new Map<string, HookState>();

  constructor(deps: IncomingHooksDeps) {
    this.#deps = deps;
  }

  /** Calls that were rejected since the start. */
  getRejected(name: string): IncomingHook['rejected'] {
    return this.#states.get(name)?.rejected ?? null;
  }

  forget(name: string): void {
    this.#states.delete(name);
  }

  /** Answers a request: with 202 once the call is stored. */
  async receive(request: Request): Promise<Response> {
    if (request.method !== 'POST') return respond(405, 'Hooks are called with POST.', { allow: 'POST' });
    const body = new Uint8Array(await request.arrayBuffer());
    if (body.byteLength > MAX_HOOK_BODY_BYTES) return respond(413, 'Calls of hooks are limited to 1 MB.');
    const name = parseHookPath(new URL(request.url).pathname);
    const hook = name === undefined ? undefined : await this.#deps.find(name);
    const secrets = hook?.enabled ? await this.#deps.getSecrets(hook) : [];
    const now = this.#deps.clock.now();
    const preset = hook?.preset ?? guessPreset(request.headers);
    const call = { headers: request.headers, body };
    const verdict = await verifyCall(preset, call, { secrets: secrets.length > 0 ? secrets : [NO_SECRET], now });
    if (!hook || secrets.length === 0 || !verdict.isValid) {
      if (hook)
        this.#reject(hook.name, !hook.enabled ? 'The hook is turned off.' : verdict.isValid ? 'The hook has no secret.' : verdict.reason);
      return respond(401, UNAUTHORIZED);
    }
    const waitMs = this.#getState(hook.name).limit.consume();
    if (waitMs > 0) {
      this.#reject(hook.name, 'There were too many calls in a minute.');
      return respond(429, 'Too many calls. Try again later.', { 'retry-after': String(Math.ceil(waitMs / 1000)) });
    }
    return this.#accept(hook, call, verdict.signature);
  }

  /** Stores a call to try the hook with. */
  async addSample(hook: IncomingHookRecord): Promise<HookCallRecord> {
    const { headers, payload } = PRESETS[hook.preset].sample;
    const summary = PRESETS[hook.preset].summarize(new Headers(headers), payload);
    const id = await HookCalls.createId(hook.name, crypto.randomUUID());
    // Also if the hook accepts other events only: the owner wants to see what the action does.
    const record = this.#createRecord(id, { ...hook, events: [] }, summary, payload);
    await this.#add(record);
    return record;
  }

  async #accept(hook: IncomingHookRecord, { headers, body }: IncomingCall, signature: string | undefined): Promise<Response> {
    let payload: unknown;
    try {
      payload = parseBody(headers.get('content-type'), body);
    } catch {
      this.#reject(hook.name, 'The body is not valid JSON.');
      return respond(400, 'The body must be JSON in UTF-8.');
    }
    const summary = PRESETS[hook.preset].summarize(headers, payload);
    const { calls } = this.#deps;
    const id = await HookCalls.createId(hook.name, signature ?? summary.id ?? crypto.randomUUID());
    if (await calls.get(id)) return accept(id, true);
    const waiting = (await calls.listPending()).filter((call) => call.hook === hook.name).length;
    if (waiting >= MAX_WAITING) {
      this.#reject(hook.name, `${MAX_WAITING} calls are waiting already.`);
      return respond(429, 'Too many calls are waiting. Try again later.', { 'retry-after': '60' });
    }
    return accept(id, !(await this.#add(this.#createRecord(id, hook, summary, payload))));
  }

  async #add(record: HookCallRecord): Promise<boolean> {
    const isNew = await this.#deps.calls.add(record);
    if (isNew && record.state === 'waiting') this.#deps.onAdded();
    return isNew;
  }

  #createRecord(id: string, hook: IncomingHookRecord, { event, message, isPing }: CallSummary, payload: unknown): HookCallRecord {
    const { action } = hook;
    const text = 'template' in action ? renderTemplate(action.template, { message, event, payload }) : message;
    const isIgnored = isPing === true || !acceptsEvent(hook.events, event);
    const now = this.#deps.clock.now();
    return {
      ...{ id, hook: hook.name, direction: 'in', event: truncateText(event), at: now },
      ...{ text: truncateText(text, MAX_PREVIEW_CHARS), error: null, attempts: 0, status: null, nextAttemptAt: null },
      ...(isIgnored ? { state: 'ignored', endedAt: now } : { state: 'waiting', endedAt: null, content: text }),
    };
  }

  #getState(name: string): HookState {
    const state = this.#states.get(name) ?? { limit: new RateLimit(this.#deps.clock, CALL_LIMIT), rejected: null };
    this.#states.set(name, state);
    return state;
  }

  #reject(name: string, reason: string): void {
    const state = this.#getState(name);
    state.rejected = { count: (state.rejected?.count ?? 0) + 1, at: this.#deps.clock.now(), reason };
  }
}

/** Whether a hook handles a type of event: `issues` stands for all its actions, such as `issues.opened`. */
const acceptsEvent = (accepted: readonly string[], event: string): boolean =>
  accepted.length === 0 || accepted.some((each) => each === event || event.startsWith(`${each}.`));

/** The scheme of a request to a hook that does not exist, so that the answer takes as long as that of an existing one. */
function guessPreset(headers: Headers): HookPreset {
  if (headers.has('stripe-signature')) return 'stripe';
  if (headers.has('x-hub-signature-256')) return 'github';
  if (headers.has('sentry-hook-signature')) return 'sentry';
  if (headers.has('webhook-signature')) return 'standard';
  return 'json';
}

const accept = (id: string, isDuplicate: boolean): Response =>
  Response.json({ accepted: true, id, ...(isDuplicate ? { duplicate: true } : {}) }, { status: 202 });

const ERROR_TYPES: Readonly<Record<number, string>> = { 401: 'unauthorized', 429: 'rate_limited' };

const respond = (status: number, message: string, headers: Record<string, string> = {}): Response =>
  Response.json(formatErrorBody(ERROR_TYPES[status] ?? 'invalid_request_error', message), { status, headers });
