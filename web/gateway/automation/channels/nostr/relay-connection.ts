import type { EventTemplate, NostrEvent } from 'nostr-tools/pure';
import { computeBackoff } from '#shared/async/backoff.ts';
import type { Clock } from '#shared/async/clock.ts';
import { abortable } from '#shared/async/watchdog.ts';
import { PlatformError } from '../platform-request.ts';

/** Filter of a subscription (NIP-01). */
interface RelayFilter {
  kinds?: number[];
  authors?: string[];
  '#p'?: string[];
  since?: number;
  limit?: number;
}

interface RelayConnectionOptions {
  url: string;
  clock: Clock;
  /** Filter of the lasting subscription, for each new connection; undefined for none. */
  subscribe?(): RelayFilter;
  onEvent?(event: unknown): void;
  /** Called when the connection opens, fails, or has sent its stored events. */
  onChange?(): void;
  sign(template: EventTemplate): NostrEvent;
  openSocket(url: string): WebSocket;
}

interface Publication {
  event: NostrEvent;
  /** Whether the relay has the event; if not, its reason. */
  settle(verdict: { ok: boolean; reason: string }): void;
}

interface Query {
  filter: RelayFilter;
  events: unknown[];
  finish(): void;
}

const MIN_RETRY_MS = 1_000;
const CONNECT_TIMEOUT_MS = 15_000;
const ANSWER_TIMEOUT_MS = 20_000;
/** Silence after which the relay is asked something, since a dead connection looks like a quiet one. */
const CHECK_MS = 60_000;
const MAX_QUERY_EVENTS = 100;
/** Longest message of a relay. */
const MAX_MESSAGE_CHARS = 1024 * 1024;

const SUBSCRIPTION = 'messages';
const AUTH_KIND = 22_242;

/** A connection to a relay (NIP-01), with authentication (NIP-42), that is opened again whenever it ends. */
export class RelayConnection {
  readonly url: string;
  readonly #options: RelayConnectionOptions;
  readonly #publications = new Map<string, Publication>();
  readonly #queries = new Map<string, Query>();
  #socket: WebSocket | undefined;
  #state: 'connecting' | 'open' | 'failed' | 'closed' = 'connecting';
  #problem = '';
  #hasStoredEvents = false;
  #failures = 0;
  #queryCount = 0;
  #challenge: string | undefined;
  #authEventId: string | undefined;
  #lastHeardAt = 0;
  #cancelTimer = (): void => {};

  constructor(options: RelayConnectionOptions) {
    this.url = options.url;
    this.#options = options;
    this.#connect();
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /** Whether the first attempt to connect has ended, well or not. */
  get hasSettled(): boolean {
    return this.#state !== 'connecting';
  }

  /** Whether the relay has sent the events that it had stored. */
  get hasStoredEvents(): boolean {
    return this.#hasStoredEvents;
  }

  /** Why the relay cannot be used; empty if it can. */
  get problem(): string {
    return this.#problem;
  }

  /** Publishes an event; resolves when the relay has it. Throws `PlatformError` with the relay's reason. */
  async publish(event: NostrEvent, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const { promise, resolve } = Promise.withResolvers<{ ok: boolean; reason: string }>();
    const publication = { event, settle: resolve };
    this.#publications.set(event.id, publication);
    this.#send(['EVENT', event]);
    const cancel = clock.after(ANSWER_TIMEOUT_MS, () => resolve({ ok: false, reason: this.#problem || 'no response' }));
    try {
      const { ok, reason } = await abortable(promise, signal);
      if (!ok)
        throw new PlatformError(`${toHost(this.url)}: ${reason.slice(0, 200)}`, {
          refused: /^(blocked|restricted|invalid|pow):/.test(reason),
        });
    } finally {
      cancel();
      // Unless the event is being published again.
      if (this.#publications.get(event.id) === publication) this.#publications.delete(event.id);
    }
  }

  /** Stored events for a filter; those that came in time, if the relay is slow or away. */
  async query(filter: RelayFilter, signal: AbortSignal): Promise<unknown[]> {
    const { clock } = this.#options;
    const { promise, resolve } = Promise.withResolvers<void>();
    const id = `query${++this.#queryCount}`;
    const query: Query = { filter, events: [], finish: resolve };
    this.#queries.set(id, query);
    this.#send(['REQ', id, filter]);
    const cancel = clock.after(ANSWER_TIMEOUT_MS, resolve);
    try {
      await abortable(promise, signal);
      return query.events;
    } finally {
      cancel();
      this.#queries.delete(id);
      this.#send(['CLOSE', id]);
    }
  }

  close(): void {
    this.#state = 'closed';
    this.#cancelTimer();
    this.#socket?.close();
    this.#socket = undefined;
    for (const { settle } of this.#publications.values()) settle({ ok: false, reason: 'the connection was closed' });
    for (const { finish } of this.#queries.values()) finish();
  }

  #connect(): void {
    const { clock, openSocket, url } = this.#options;
    let socket: WebSocket;
    try {
      socket = openSocket(url);
    } catch {
      return this.#fail('the address is invalid');
    }
    this.#socket = socket;
    const ifCurrent = (work: () => void) => (): void => {
      if (this.#socket === socket) work();
    };
    this.#setTimer(CONNECT_TIMEOUT_MS, () => this.#fail('no response'));
    socket.addEventListener(
      'open',
      ifCurrent(() => this.#onOpen()),
    );
    socket.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
      if (this.#socket !== socket || typeof data !== 'string' || data.length > MAX_MESSAGE_CHARS) return;
      this.#lastHeardAt = clock.monotonic();
      this.#onMessage(data);
    });
    socket.addEventListener(
      'close',
      ifCurrent(() => this.#fail('the connection was lost')),
    );
    socket.addEventListener(
      'error',
      ifCurrent(() => this.#fail('no connection')),
    );
  }

  #onOpen(): void {
    const { clock, onChange } = this.#options;
    this.#state = 'open';
    this.#problem = '';
    this.#challenge = undefined;
    this.#lastHeardAt = clock.monotonic();
    this.#setTimer(CHECK_MS, () => void this.#check());
    this.#sendOpenRequests();
    onChange?.();
  }

  /** What is not answered yet, for a new connection or after authentication. */
  #sendOpenRequests(): void {
    const filter = this.#options.subscribe?.();
    if (filter) this.#send(['REQ', SUBSCRIPTION, filter]);
    for (const [id, query] of this.#queries) this.#send(['REQ', id, query.filter]);
    for (const { event } of this.#publications.values()) this.#send(['EVENT', event]);
  }

  /** Asks the relay for nothing, if it was silent; closes the connection if it does not answer. */
  async #check(): Promise<void> {
    const { clock } = this.#options;
    this.#setTimer(CHECK_MS, () => void this.#check());
    if (clock.monotonic() - this.#lastHeardAt < CHECK_MS) return;
    const askedAt = clock.monotonic();
    const socket = this.#socket;
    await this.query({ authors: ['0'.repeat(64)], limit: 1 }, new AbortController().signal);
    if (this.#socket === socket && this.#state === 'open' && this.#lastHeardAt < askedAt) this.#fail('no response');
  }

  #onMessage(text: string): void {
    const message = parseArray(text);
    const [type, first, second, third] = message ?? [];
    switch (type) {
      case 'EVENT':
        if (first === SUBSCRIPTION) return this.#options.onEvent?.(second);
        this.#addResult(first, second);
        return;
      case 'EOSE':
        if (first === SUBSCRIPTION) {
          this.#failures = 0;
          this.#hasStoredEvents = true;
          this.#options.onChange?.();
        } else this.#queries.get(String(first))?.finish();
        return;
      case 'OK':
        return this.#onOk(String(first), second === true, typeof third === 'string' ? third : '');
      case 'AUTH':
        this.#challenge = String(first);
        return this.#authenticate();
      case 'CLOSED':
        return this.#onClosed(String(first), typeof second === 'string' ? second : '');
      case 'NOTICE':
        this.#problem = String(first).slice(0, 200);
    }
  }

  #addResult(id: unknown, event: unknown): void {
    const query = this.#queries.get(String(id));
    if (query && query.events.length < MAX_QUERY_EVENTS) query.events.push(event);
  }

  #onOk(eventId: string, ok: boolean, reason: string): void {
    if (eventId === this.#authEventId) {
      if (ok) this.#sendOpenRequests();
      else this.#fail(reason || 'it rejected the key');
      return;
    }
    // It is sent again after the authentication.
    if (!ok && reason.startsWith('auth-required:') && this.#challenge !== undefined) return this.#authenticate();
    this.#publications.get(eventId)?.settle({ ok: ok || reason.startsWith('duplicate:'), reason });
  }

  #onClosed(id: string, reason: string): void {
    if (reason.startsWith('auth-required:')) return this.#challenge === undefined ? undefined : this.#authenticate();
    if (id === SUBSCRIPTION) this.#fail(reason || 'it ended the subscription');
    else this.#queries.get(id)?.finish();
  }

  #authenticate(): void {
    const { sign, clock, url } = this.#options;
    const tags = [
      ['relay', url],
      ['challenge', this.#challenge ?? ''],
    ];
    const event = sign({ kind: AUTH_KIND, created_at: Math.floor(clock.now() / 1000), tags, content: '' });
    // Answered once: a relay that asks again for the same challenge would make a loop.
    this.#challenge = undefined;
    this.#authEventId = event.id;
    this.#send(['AUTH', event]);
  }

  #fail(problem: string): void {
    if (this.#state === 'closed') return;
    const { clock, onChange } = this.#options;
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
    this.#state = 'failed';
    this.#hasStoredEvents = false;
    this.#problem = problem;
    const wait = computeBackoff(++this.#failures, MIN_RETRY_MS);
    this.#setTimer(wait, () => this.#connect());
    clock.after(0, () => onChange?.());
  }

  #send(message: readonly unknown[]): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #setTimer(ms: number, work: () => void): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#options.clock.after(ms, work);
  }
}

function parseArray(text: string): unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export const toHost = (url: string): string => URL.parse(url)?.host ?? url;
