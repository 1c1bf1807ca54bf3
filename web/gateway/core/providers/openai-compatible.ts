import { editsOf } from '#shared/http/body-edits.ts';
import type { ProviderKind } from '#shared/rpc/records.ts';
import { isHeld, type SpliceEnd } from '#shared/link/splice.ts';
import { assembled, TRAILER_MS } from './assembled.ts';
import { ChatAssembler } from './chat-assembler.ts';
import type { EmbeddingProvider } from './embedding.ts';
import type { Forwarded, ForwardingProvider, PastHost, SpliceTo } from './forwarding.ts';
import { faultOf, faultOfEnd } from './past-host.ts';
import { readModels } from './listed-models.ts';
import { lmStudioModels, withOllamaDetails } from './local-details.ts';
import { type Quirks, quirksAt } from './openai-quirks.ts';
import { adaptBody, chatBody, renamed } from './openai-request.ts';
import { type ListedModel, type ModelEvent, type ModelMessage, type ModelRequest, ProviderError } from './provider.ts';
import { retried } from './retry.ts';
import type { DrawingProvider, Relayed, RelayingProvider } from './relaying.ts';
import { toStanding } from './standing.ts';
import { readChunks, readItems } from './upstream-body.ts';
import { type Passing, UpstreamHttp, type UpstreamOptions } from './upstream-http.ts';
import type { Watchdog } from './watchdog.ts';

export interface OpenAiCompatibleOptions extends UpstreamOptions {
  kind?: ProviderKind | undefined;
}

/** Any server that speaks the chat-completions format: hosted ones with a key, Ollama, LM Studio, llama.cpp, vLLM and the like. */
export class OpenAiCompatible implements ForwardingProvider, EmbeddingProvider, RelayingProvider, DrawingProvider {
  readonly id: string;
  readonly name: string;
  readonly #kind: ProviderKind;
  readonly #quirks: Quirks;
  readonly #http: UpstreamHttp;
  readonly #options: OpenAiCompatibleOptions;
  /** Models that end thoughts in their text without having begun them. */
  readonly #thinkFirst = new Set<string>();
  readonly #ollama = new Map<string, ListedModel | null>();

  constructor(options: OpenAiCompatibleOptions) {
    this.id = options.id;
    this.name = options.name;
    this.#kind = options.kind ?? 'openai-compatible';
    this.#quirks = quirksAt(this.#kind, options.baseUrl);
    this.#options = options;
    this.#http = new UpstreamHttp(options, {
      headers: (apiKey): Record<string, string> => (apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
    });
  }

  stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    return this.#stream(request, signal);
  }

  /** As OpenRouter has it: a chat completion that may answer with images. */
  draw(model: string, content: ModelMessage['content'], signal: AbortSignal): AsyncGenerator<ModelEvent> {
    return this.#stream({ model, messages: [{ role: 'user', content }] }, signal, { modalities: ['image', 'text'] });
  }

  async *#stream(request: ModelRequest, signal: AbortSignal, more: Record<string, unknown> = {}): AsyncGenerator<ModelEvent> {
    const body = { ...chatBody(request, this.#quirks), ...more };
    const adapt = request.exact && !request.ownTemperature ? renamed : adaptBody;
    const open = (watchdog: Watchdog): Promise<Response> => this.#http.sendAdapted('/chat/completions', body, watchdog, adapt);
    const assembler = new ChatAssembler(this.name, this.#quirks.keeps, request.tellsUnread, this.#thinkFirst.has(request.model));
    yield* assembled(this.#http, assembler, { signal, open });
    if (assembler.isUnopened) this.#thinkFirst.add(request.model);
  }

  /** Tries three times in all, before the upstream has accepted it. */
  forward(...[body, signal, options]: Parameters<ForwardingProvider['forward']>): Promise<Forwarded> {
    return retried(() => this.#forward(body, signal, options), { clock: this.#options.clock, signal });
  }

  async #forward(...[body, signal, { addUsage, to }]: Parameters<ForwardingProvider['forward']>): Promise<Forwarded> {
    const watchdog = this.#http.watch(signal, body['stream'] !== true);
    try {
      const given = body['stream_options'];
      const options = { ...(typeof given === 'object' ? given : {}), include_usage: true };
      const asked = addUsage ? { ...body, stream_options: options } : body;
      // A server that does not know the option gets the caller's own request.
      const adapt = (current: Record<string, unknown>, refusal: string): Record<string, unknown> | undefined =>
        current !== body && refusal.includes('stream_options') ? body : undefined;
      const response = await this.#http.sendAdapted('/chat/completions', asked, watchdog, adapt, to && this.#passing(body, addUsage, to));
      return {
        ...(isHeld(response) ? { past: this.#past(response, watchdog, signal) } : {}),
        batches: this.#batches(response, watchdog, signal),
        trailer: () => watchdog.limit(TRAILER_MS),
        told: (error) => (error instanceof ProviderError ? this.#http.explain(error) : error),
      };
    } catch (error) {
      watchdog.stop();
      signal.throwIfAborted();
      throw this.#http.explain(error);
    }
  }

  faultOfEnd(end: SpliceEnd): Promise<unknown> {
    const fault = faultOfEnd(end, this.name, this.#http.idleMs);
    return Promise.resolve(fault && this.#http.explain(fault));
  }

  embed(body: Record<string, unknown>, signal: AbortSignal): Promise<unknown> {
    const ask = (): Promise<unknown> => this.#http.watched(signal, (watchdog) => this.#http.json('/embeddings', watchdog, body), true);
    return retried(ask, { clock: this.#options.clock, signal });
  }

  relay(...[path, body, signal, options]: Parameters<RelayingProvider['relay']>): Promise<Relayed> {
    const ask = async (): Promise<Relayed> => {
      const watchdog = this.#http.watch(signal, !options?.streamed);
      try {
        const { headers, body: answer } = await this.#http.send(path, body, watchdog);
        const chunks = this.#chunks(answer, watchdog, signal);
        return { contentType: headers.get('content-type'), chunks, told: (error) => this.#http.explain(error) };
      } catch (error) {
        watchdog.stop();
        signal.throwIfAborted();
        throw this.#http.explain(error);
      }
    };
    return retried(ask, { clock: this.#options.clock, signal });
  }

  models(signal: AbortSignal): Promise<ListedModel[]> {
    return this.#http.watched(signal, async (watchdog) => {
      const own = this.#kind === 'lmstudio' ? await lmStudioModels(this.#http, watchdog) : undefined;
      const models = own ?? readModels(await this.#http.json('/models', watchdog));
      if (!models)
        throw new ProviderError(
          `${this.name} does not list models at ${this.#http.baseUrl}/models. Check the base URL.${this.#http.missingVersion('/models')}`,
        );
      const { hidden } = this.#quirks;
      if (hidden) return models.filter(({ id }) => !hidden.test(id));
      return this.#kind === 'ollama' ? withOllamaDetails(this.#http, models, this.#ollama, watchdog) : models;
    });
  }

  #passing(body: Record<string, unknown>, stripUsage: boolean, { exchange, own, call, stands }: SpliceTo): Passing {
    const { idleMs } = this.#http;
    const trailerMs = Math.min(TRAILER_MS, idleMs);
    const choices = typeof body['n'] === 'number' ? body['n'] : 1;
    const forward = { exchange, call, wire: 'chat' as const, stream: body['stream'] === true, choices, idleMs, trailerMs, stripUsage };
    return {
      forward,
      editsFor: (sent) => own && editsOf(own.text, own.body, sent),
      standingFor: (sent) => (own && stands ? toStanding(own.body, sent) : undefined),
    };
  }

  /** Silences are the bridge's to notice from here on. */
  #past(response: Response, watchdog: Watchdog, signal: AbortSignal): PastHost {
    watchdog.rest();
    const failed = faultOf(response, this.name, this.#http.idleMs)
      .catch((error: unknown) => {
        signal.throwIfAborted();
        return error;
      })
      .then((error) => error && this.#http.explain(error))
      .finally(() => watchdog.stop());
    failed.catch(() => {});
    return { failed };
  }

  async *#chunks(body: Response['body'], watchdog: Watchdog, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    try {
      yield* readChunks(body, watchdog);
    } catch (error) {
      signal.throwIfAborted();
      throw this.#http.explain(error);
    } finally {
      watchdog.stop();
    }
  }

  async *#batches(response: Response, watchdog: Watchdog, signal: AbortSignal): Forwarded['batches'] {
    try {
      yield* readItems(this.name, response.body, watchdog);
    } catch (error) {
      signal.throwIfAborted();
      throw this.#http.explain(error);
    } finally {
      watchdog.stop();
    }
  }
}
