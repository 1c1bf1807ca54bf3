import type { ModelEntry } from '#shared/rpc/records.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { SseTooLarge } from '#shared/http/sse.ts';
import type { Clock } from '../clock.ts';
import { type Fetch, FetchRefused } from '../fetch.ts';
import { ChatAssembler } from './chat-assembler.ts';
import { readModels } from './model-entry.ts';
import { statusError } from './openai-errors.ts';
import { adaptBody, chatBody } from './openai-request.ts';
import { type ModelEvent, type ModelRequest, type Provider, ProviderError } from './provider.ts';
import { type BodyItem, readItems, readText } from './upstream-body.ts';
import { abortable, pause, Watchdog } from './watchdog.ts';

/** Waits before the second and the third try, in milliseconds. */
const BACKOFF_MS = [500, 1500];
/** A server that asks for a longer wait is not waited for. */
const MAX_RETRY_AFTER_MS = 20_000;
/** After the finish reason only usage and `[DONE]` may follow: servers that leave the connection open get this long. */
const TRAILER_MS = 2_000;
const ERROR_BODY_LIMIT = 64 * 1024;

export interface OpenAiCompatibleOptions {
  id: string;
  /** What errors and lists call it. */
  name: string;
  /** With its version path, such as `http://127.0.0.1:11434/v1`. */
  baseUrl: string;
  /** Left out for servers that want none. */
  apiKey?: string | undefined;
  fetch: Fetch;
  clock: Clock;
  /** Milliseconds without a byte after which the answer is given up; 60 s (decisions, "Chat"). */
  idleTimeoutMs?: number | undefined;
}

/** A raw answer of the upstream, for a caller that speaks the same language. */
export interface Forwarded {
  /** Batches as they come, one per network chunk; ends or throws as the upstream does. */
  batches: AsyncGenerator<{ items: BodyItem[]; last: boolean }>;
  /** After the finish: only a trailer is still waited for. */
  trailer(): void;
}

/** A provider that passes a completions request through as it is. */
export interface ForwardingProvider extends Provider {
  /**
   * Sends a caller's own `POST /chat/completions` body. Resolves when the upstream has accepted it, with what it sends; rejects with
   * `ProviderError` before that. The upstream is cancelled by `signal` and when the batches are left early.
   */
  forward(body: Record<string, unknown>, signal: AbortSignal): Promise<Forwarded>;
}

export function canForward(provider: Provider): provider is ForwardingProvider {
  return 'forward' in provider && typeof provider.forward === 'function';
}

/** Any server that speaks the chat-completions format: hosted ones with a key, Ollama, LM Studio, llama.cpp, vLLM and the like. */
export class OpenAiCompatible implements ForwardingProvider {
  readonly id: string;
  readonly name: string;
  readonly baseUrl: string;
  readonly #apiKey: string | undefined;
  readonly #fetch: Fetch;
  readonly #clock: Clock;
  readonly #idleMs: number;

  constructor(options: OpenAiCompatibleOptions) {
    this.id = options.id;
    this.name = options.name;
    this.baseUrl = options.baseUrl.trim().replace(/\/+$/, '');
    this.#apiKey = options.apiKey || undefined;
    this.#fetch = options.fetch;
    this.#clock = options.clock;
    this.#idleMs = options.idleTimeoutMs ?? 60_000;
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const watchdog = this.#watch(signal);
    const assembler = new ChatAssembler(this.name);
    try {
      const response = await this.#post(chatBody(request), watchdog, adaptBody);
      yield* this.#events(response, assembler, watchdog);
    } catch (error) {
      signal.throwIfAborted();
      // Silence or a cut after the finish reason: the answer is whole, only the trailer never came.
      if (!assembler.finished || (error instanceof ProviderError && !watchdog.signal.aborted)) throw this.#explain(error);
      yield* assembler.end(false);
    } finally {
      watchdog.stop();
    }
  }

  async forward(body: Record<string, unknown>, signal: AbortSignal): Promise<Forwarded> {
    const watchdog = this.#watch(signal);
    try {
      const response = await this.#post(body, watchdog, () => undefined);
      return { batches: this.#batches(response, watchdog, signal), trailer: () => watchdog.limit(TRAILER_MS) };
    } catch (error) {
      watchdog.stop();
      signal.throwIfAborted();
      throw this.#explain(error);
    }
  }

  async models(signal: AbortSignal): Promise<ModelEntry[]> {
    const watchdog = this.#watch(signal);
    try {
      const response = await this.#attempt('/models', {}, watchdog);
      const text = await readText(response.body, watchdog);
      const models = readModels(this.id, parseJson(text));
      if (!models) throw new ProviderError(`${this.name} does not list models at ${this.baseUrl}/models; is the base URL right?`);
      return models;
    } catch (error) {
      signal.throwIfAborted();
      throw this.#explain(error);
    } finally {
      watchdog.stop();
    }
  }

  async *#events(response: Response, assembler: ChatAssembler, watchdog: Watchdog): AsyncGenerator<ModelEvent> {
    for await (const { items, last } of readItems(this.name, response.body, watchdog)) {
      for (const item of items) {
        if (item.kind === 'whole') {
          yield* assembler.add(item.text);
          yield* assembler.end(true);
          return;
        }
        if (item.data.trim() === '[DONE]') {
          yield* assembler.end(true);
          return;
        }
        // Half an event at the very end is a stream that was cut, not garbage.
        if (last && parseJson(item.data) === undefined) break;
        const before = assembler.finished;
        yield* assembler.add(item.data);
        if (assembler.finished && !before) watchdog.limit(Math.min(TRAILER_MS, this.#idleMs));
      }
    }
    yield* assembler.end(false);
  }

  async *#batches(response: Response, watchdog: Watchdog, signal: AbortSignal): Forwarded['batches'] {
    try {
      yield* readItems(this.name, response.body, watchdog);
    } catch (error) {
      signal.throwIfAborted();
      throw this.#explain(error);
    } finally {
      watchdog.stop();
    }
  }

  async #post(body: Record<string, unknown>, watchdog: Watchdog, adapt: typeof adaptBody): Promise<Response> {
    const headers = { 'content-type': 'application/json' };
    const send = (value: Record<string, unknown>): Promise<Response> =>
      this.#persist(() => this.#attempt('/chat/completions', { method: 'POST', body: JSON.stringify(value), headers }, watchdog), watchdog);
    let current = body;
    // Each adaptation takes something away, so that this ends.
    for (;;) {
      try {
        return await send(current);
      } catch (error) {
        const refused = error instanceof ProviderError && (error.status === 400 || error.status === 422);
        const adapted = refused ? adapt(current, error.message) : undefined;
        if (!adapted) throw error;
        current = adapted;
      }
    }
  }

  /** A request with its retries: all of them before the first byte of an answer. */
  async #persist(request: () => Promise<Response>, watchdog: Watchdog): Promise<Response> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await request();
      } catch (error) {
        const backoff = BACKOFF_MS[attempt];
        if (!(error instanceof ProviderError) || !error.retryable || backoff === undefined) throw error;
        const wait = Math.max(backoff, error.retryAfterMs ?? 0);
        if (wait > MAX_RETRY_AFTER_MS) throw error;
        await pause(this.#clock, wait, watchdog.signal);
        watchdog.touch();
      }
    }
  }

  async #attempt(
    path: string,
    init: { method?: string; body?: string; headers?: Record<string, string> },
    watchdog: Watchdog,
  ): Promise<Response> {
    const { signal } = watchdog;
    const headers: Record<string, string> = { accept: 'text/event-stream, application/json', ...init.headers };
    if (this.#apiKey) headers['authorization'] = `Bearer ${this.#apiKey}`;
    let response: Response;
    try {
      response = await abortable(this.#fetch(this.baseUrl + path, { ...init, headers, signal }), signal);
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof RpcError || cause instanceof ProviderError) throw cause;
      if (cause instanceof FetchRefused) throw new ProviderError(`${this.name} is not asked: ${cause.message}`, { cause });
      throw new ProviderError(`${this.name} cannot be reached at ${this.baseUrl}: it is not running, or does not allow calls from here`, {
        retryable: true,
        cause,
      });
    }
    watchdog.touch();
    if (response.ok) return response;
    if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
      void response.body?.cancel();
      throw new ProviderError(`${this.name} redirects to another address; use the address that it leads to as the base URL`);
    }
    throw this.#redacted(
      statusError(this.name, response, await readText(response.body, watchdog, ERROR_BODY_LIMIT, false), this.#clock.now()),
    );
  }

  #watch(signal: AbortSignal): Watchdog {
    const seconds = Math.round(this.#idleMs / 1000);
    const silence = (): ProviderError => new ProviderError(`${this.name} went silent: nothing came for ${seconds} s`, { retryable: true });
    return new Watchdog(this.#clock, this.#idleMs, signal, silence);
  }

  /** A failure of the transport or of the format, as the provider's. */
  #explain(error: unknown): unknown {
    if (error instanceof ProviderError || error instanceof RpcError) return error;
    if (error instanceof SseTooLarge) return new ProviderError(`${this.name} sent an event that is too large to read`, { cause: error });
    return new ProviderError(`${this.name} broke off in the middle of its answer`, { retryable: true, cause: error });
  }

  /** Servers quote keys in their refusals. */
  #redacted(error: ProviderError): ProviderError {
    if (this.#apiKey && error.message.includes(this.#apiKey)) error.message = error.message.replaceAll(this.#apiKey, '***');
    return error;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
