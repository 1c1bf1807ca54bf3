import { z } from '#shared/rpc/zod.ts';
import { every, type Clock } from '#shared/async/clock.ts';
import { abortable } from '#shared/async/watchdog.ts';
import { PlatformError } from '../platform-request.ts';

const OPCODES = {
  dispatch: 0,
  heartbeat: 1,
  identify: 2,
  resume: 6,
  reconnect: 7,
  invalidSession: 9,
  hello: 10,
  acknowledged: 11,
} as const;
/** Close codes after which a session cannot go on. */
const SESSION_ENDED_CODES = [1000, 1001, 4007, 4009];
const READY_TIMEOUT_MS = 30_000;
/** Close code for a connection that is opened again for the same session. */
const RESUMABLE_CLOSE = 4000;
const MAX_PAYLOAD_CHARS = 8 * 1024 * 1024;

const payload = z.object({ op: z.number().int(), d: z.unknown().optional(), s: z.number().int().nullish(), t: z.string().nullish() });
const hello = z.object({ heartbeat_interval: z.number().positive() });
const ready = z.object({ session_id: z.string(), resume_gateway_url: z.string() });

/** A session that a later connection can continue, so that no event is lost. */
export interface DiscordSession {
  id: string;
  /** Number of the last event. */
  seq: number;
  url: string;
}

interface DiscordConnectionOptions {
  /** Address for a new session. */
  url: string;
  session: DiscordSession | undefined;
  token: string;
  intents: number;
  clock: Clock;
  onDispatch(type: string, data: unknown): void;
  /** Called when the connection has ended. */
  onEnd(): void;
  openSocket(url: string): WebSocket;
}

/** Discord has ended the session: a new one is needed. */
export class SessionEndedError extends PlatformError {
  override name = 'SessionEndedError';
}

/** One connection to Discord's gateway (https://discord.com/developers/docs/events/gateway). */
export class DiscordConnection {
  readonly #options: DiscordConnectionOptions;
  readonly #socket: WebSocket;
  readonly #ready = Promise.withResolvers<void>();
  #session: DiscordSession | undefined;
  #isAcknowledged = true;
  #hasEnded = false;
  #stopHeartbeat = (): void => {};

  constructor(options: DiscordConnectionOptions) {
    this.#options = options;
    this.#session = options.session;
    this.#ready.promise.catch(() => {});
    this.#socket = options.openSocket(`${options.session?.url ?? options.url}/?v=10&encoding=json`);
    this.#socket.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
      if (!this.#hasEnded && typeof data === 'string' && data.length <= MAX_PAYLOAD_CHARS) this.#onMessage(data);
    });
    this.#socket.addEventListener('close', ({ code }) => this.#end(code));
    this.#socket.addEventListener('error', () => this.#end(1006));
  }

  /** Resolves when the session has begun or goes on. Throws `PlatformError`. */
  async waitUntilReady(signal: AbortSignal): Promise<void> {
    const cancel = this.#options.clock.after(READY_TIMEOUT_MS, () => {
      this.#ready.reject(new PlatformError('Discord did not respond in time.'));
      this.close();
    });
    await abortable(this.#ready.promise, signal).finally(cancel);
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The session to continue; undefined if there is none. */
  get session(): DiscordSession | undefined {
    return this.#session;
  }

  /** Ends the connection; its session can go on for a few minutes. */
  close(): void {
    this.#end(RESUMABLE_CLOSE);
  }

  #onMessage(text: string): void {
    const parsed = parsePayload(text);
    if (!parsed) return;
    const { op, d, s, t } = parsed;
    if (typeof s === 'number' && this.#session) this.#session = { ...this.#session, seq: s };
    switch (op) {
      case OPCODES.hello:
        return this.#onHello(hello.safeParse(d).data?.heartbeat_interval ?? 41_250);
      case OPCODES.heartbeat:
        return this.#send(OPCODES.heartbeat, this.#session?.seq ?? null);
      case OPCODES.acknowledged:
        this.#isAcknowledged = true;
        return;
      case OPCODES.reconnect:
        return this.close();
      case OPCODES.invalidSession:
        if (d !== true) this.#session = undefined;
        this.#ready.reject(new SessionEndedError('Discord ended the session.'));
        return this.close();
      case OPCODES.dispatch:
        if (t === 'READY') {
          const { data } = ready.safeParse(d);
          if (data) this.#session = { id: data.session_id, seq: s ?? 0, url: data.resume_gateway_url.replace(/\/+$/, '') };
        }
        this.#options.onDispatch(t ?? '', d);
        if (t === 'READY' || t === 'RESUMED') this.#ready.resolve();
    }
  }

  #onHello(intervalMs: number): void {
    const { token, intents, clock } = this.#options;
    const beat = (): void => {
      // A connection without an acknowledgement is dead, though it looks open.
      if (!this.#isAcknowledged) return this.close();
      this.#isAcknowledged = false;
      this.#send(OPCODES.heartbeat, this.#session?.seq ?? null);
    };
    // The first one at a random time, as Discord asks for.
    const cancelFirst = clock.after(intervalMs * Math.random(), beat);
    const stop = every(clock, intervalMs, beat);
    this.#stopHeartbeat = () => {
      cancelFirst();
      stop();
    };
    if (this.#session) this.#send(OPCODES.resume, { token, session_id: this.#session.id, seq: this.#session.seq });
    else this.#send(OPCODES.identify, { token, intents, properties: { os: 'linux', browser: 'perch', device: 'perch' } });
  }

  #send(op: number, d: unknown): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ op, d }));
  }

  #end(code: number): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#stopHeartbeat();
    if (this.#socket.readyState !== WebSocket.CLOSED) this.#socket.close(RESUMABLE_CLOSE);
    if (SESSION_ENDED_CODES.includes(code)) {
      this.#session = undefined;
      this.#ready.reject(new SessionEndedError('Discord ended the session.'));
    } else this.#ready.reject(toCloseError(code));
    this.#options.onEnd();
  }
}

function parsePayload(text: string): z.infer<typeof payload> | undefined {
  try {
    return payload.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Pause after an error that only a person can correct, since Discord limits how often a bot may connect. */
const FATAL_RETRY_MS = 5 * 60_000;

function toCloseError(code: number): PlatformError {
  switch (code) {
    case 4004:
      return new PlatformError('Discord rejected channels.discord.botToken (4004). Copy the token from the developer portal again.', {
        retryAfterMs: FATAL_RETRY_MS,
      });
    case 4014:
      return new PlatformError(
        'Discord does not let the bot read all messages (4014). Turn on “Message Content Intent” in the developer portal, or reply only to mentions.',
        { retryAfterMs: FATAL_RETRY_MS },
      );
    case 4010:
    case 4011:
    case 4012:
    case 4013:
      return new PlatformError(`Discord rejected the connection (${code}).`, { retryAfterMs: FATAL_RETRY_MS });
    default:
      return new PlatformError('The connection to Discord was lost.');
  }
}
