import { z } from '#shared/rpc/zod.ts';
import type { Clock } from '#shared/async/clock.ts';
import { abortable } from '#shared/async/watchdog.ts';
import { parseJson } from '../../../providers/upstream-http.ts';
import { PlatformError } from '../platform-request.ts';
import { FATAL_RETRY_MS } from './slack-api.ts';

const READY_TIMEOUT_MS = 30_000;
/** A connection that is silent for so long may be dead, which a browser cannot see: it is replaced. */
const MAX_SILENCE_MS = 5 * 60_000;
const MAX_PAYLOAD_CHARS = 4 * 1024 * 1024;
const NORMAL_CLOSURE = 1000;

const frame = z.object({
  type: z.string(),
  reason: z.string().optional().catch(undefined),
  envelope_id: z.string().optional(),
  payload: z.unknown().optional(),
});

/** News from Slack, which it repeats until it is acknowledged. */
export interface SlackEnvelope {
  type: string;
  payload: unknown;
  acknowledge(): void;
}

interface SlackConnectionOptions {
  url: string;
  clock: Clock;
  onEnvelope(envelope: SlackEnvelope): void;
  /** Called when the connection has ended, or Slack asks for a new one. */
  onEnd(): void;
  openSocket(url: string): WebSocket;
}

/** One connection of socket mode (https://docs.slack.dev/apis/events-api/using-socket-mode). */
export class SlackConnection {
  readonly #options: SlackConnectionOptions;
  readonly #socket: WebSocket;
  readonly #ready = Promise.withResolvers<void>();
  #hasEnded = false;
  #isReplaceable = false;
  #cancelSilence = (): void => {};

  constructor(options: SlackConnectionOptions) {
    this.#options = options;
    this.#ready.promise.catch(() => {});
    this.#socket = options.openSocket(options.url);
    this.#socket.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
      if (!this.#hasEnded && typeof data === 'string' && data.length <= MAX_PAYLOAD_CHARS) this.#onFrame(parseJson(data));
    });
    this.#socket.addEventListener('close', () => this.#end());
    this.#socket.addEventListener('error', () => this.#end());
  }

  /** Resolves when Slack has accepted the connection. Throws `PlatformError`. */
  async waitUntilReady(signal: AbortSignal): Promise<void> {
    const cancel = this.#options.clock.after(READY_TIMEOUT_MS, () => {
      this.#ready.reject(new PlatformError('Slack did not respond in time.'));
      this.close();
    });
    await abortable(this.#ready.promise, signal).finally(cancel);
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Whether a new connection is wanted; this one may still receive until it is closed. */
  get isReplaceable(): boolean {
    return this.#isReplaceable || this.#hasEnded;
  }

  close(): void {
    this.#end();
  }

  #onFrame(source: unknown): void {
    const { data } = frame.safeParse(source);
    if (!data) return;
    this.#watchSilence();
    const { type, reason, envelope_id: id, payload } = data;
    if (type === 'hello') return this.#ready.resolve();
    if (type === 'disconnect') {
      if (reason === 'link_disabled')
        this.#ready.reject(
          new PlatformError('Socket mode is turned off. Turn it on in the settings of the Slack app.', { retryAfterMs: FATAL_RETRY_MS }),
        );
      return this.#askForReplacement();
    }
    if (id === undefined) return;
    this.#options.onEnvelope({ type, payload, acknowledge: () => this.#acknowledge(id) });
  }

  #acknowledge(id: string): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ envelope_id: id }));
  }

  #watchSilence(): void {
    this.#cancelSilence();
    this.#cancelSilence = this.#options.clock.after(MAX_SILENCE_MS, () => this.#askForReplacement());
  }

  #askForReplacement(): void {
    this.#isReplaceable = true;
    this.#options.onEnd();
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#cancelSilence();
    if (this.#socket.readyState !== WebSocket.CLOSED) this.#socket.close(NORMAL_CLOSURE);
    this.#ready.reject(new PlatformError('The connection to Slack was lost.'));
    this.#options.onEnd();
  }
}
