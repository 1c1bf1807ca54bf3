import type { ProviderKind } from '#shared/rpc/records.ts';
import type { SpliceEnd } from '#shared/link/splice.ts';
import { assembled } from './assembled.ts';
import { ChatAssembler } from './chat-assembler.ts';
import type { EmbeddingProvider } from './embedding.ts';
import type { EndpointProvider } from './endpoint.ts';
import type { Forwarded, ForwardingProvider } from './forwarding.ts';
import { faultOfEnd, readChatFault, sendForwarded, toPassing } from './past-host.ts';
import { readModels } from './listed-models.ts';
import { lmStudioModels, withOllamaDetails } from './local-details.ts';
import { type Quirks, quirksAt } from './openai-quirks.ts';
import { adaptBody, chatBody, refusesUsage, renamed } from './openai-request.ts';
import { type ListedModel, type ModelEvent, type ModelMessage, type ModelRequest, ProviderError } from './provider.ts';
import { retried } from './retry.ts';
import type { DrawingProvider, Relayed, RelayingProvider } from './relaying.ts';
import { toStanding } from './standing.ts';
import { readChunks } from './upstream-body.ts';
import { UpstreamHttp, type UpstreamOptions } from './upstream-http.ts';
import type { Watchdog } from './watchdog.ts';

/** Whether a refusal names a field. `user` is also a role. */
const namesField = (refusal: string, field: string): boolean =>
  field === 'user' ? /['"`]user['"`](?! role)/.test(refusal) : refusal.includes(field);

export interface OpenAiCompatibleOptions extends UpstreamOptions {
  kind?: ProviderKind | undefined;
}

/** Any server with the chat-completions format: hosted ones with a key, Ollama, LM Studio, llama.cpp, vLLM and the like. */
export class OpenAiCompatible implements ForwardingProvider, EmbeddingProvider, EndpointProvider, RelayingProvider, DrawingProvider {
  readonly id: string;
  readonly name: string;
  readonly #kind: ProviderKind;
  readonly #quirks: Quirks;
  readonly #http: UpstreamHttp;
  readonly #options: OpenAiCompatibleOptions;
  /** Models that close a thinking tag in their text without having opened it. */
  readonly #thinkFirst = new Set<string>();
  /** Models whose server rejects `stream_options`. */
  readonly #noStreamUsage = new Set<string>();
  /** Request fields that the server of a model rejects. */
  readonly #refused = new Map<string, Set<string>>();
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

  /** OpenRouter's way: a chat completion that may answer with images. */
  draw(model: string, content: ModelMessage['content'], signal: AbortSignal): AsyncGenerator<ModelEvent> {
    return this.stream({ model, messages: [{ role: 'user', content }], passed: { modalities: ['image', 'text'] } }, signal);
  }

  async *stream({ passed = {}, ...asked }: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const refused = this.#refused.get(asked.model) ?? new Set();
    for (const field of Object.keys(passed)) if (refused.has(field)) asked.onRefusedField?.(field);
    const request = { ...asked, passed: Object.fromEntries(Object.entries(passed).filter(([field]) => !refused.has(field))) };
    const body = chatBody(request, this.#streamsUsage(request.model) ? this.#quirks : { ...this.#quirks, streamOptions: false });
    const lessen = request.exact && !request.ownTemperature ? renamed : adaptBody;
    const adapt: typeof lessen = (current, refusal) => {
      const field = Object.keys(request.passed).find((name) => name in current && namesField(refusal, name));
      if (field !== undefined) {
        this.#refused.set(request.model, refused.add(field));
        asked.onRefusedField?.(field);
        return Object.fromEntries(Object.entries(current).filter(([name]) => name !== field));
      }
      const less = lessen(current, refusal);
      if (less && 'stream_options' in current && !('stream_options' in less)) this.#noStreamUsage.add(request.model);
      return less;
    };
    const open = (watchdog: Watchdog): Promise<Response> => this.#http.sendAdapted('/chat/completions', body, watchdog, adapt);
    const assembler = new ChatAssembler(this.name, this.#quirks.keeps, request.tellsUnread, this.#thinkFirst.has(request.model));
    yield* assembled(this.#http, assembler, { signal, open });
    if (assembler.isUnopened) this.#thinkFirst.add(request.model);
  }

  /** Tries up to three times until the upstream has accepted the request. */
  forward(...[body, signal, options]: Parameters<ForwardingProvider['forward']>): Promise<Forwarded> {
    return retried(() => this.#forward(body, signal, options), { clock: this.#options.clock, signal });
  }

  async #forward(...[body, signal, { addUsage, to }]: Parameters<ForwardingProvider['forward']>): Promise<Forwarded> {
    const model = String(body['model']);
    const asksUsage = addUsage && this.#streamsUsage(model);
    const given = body['stream_options'];
    const options = { ...(typeof given === 'object' ? given : {}), include_usage: true };
    const asked = asksUsage ? { ...body, stream_options: options } : body;
    // A server that rejects the option gets the caller's own request, now and from then on.
    const adapt = (current: Record<string, unknown>, refusal: string): Record<string, unknown> | undefined => {
      if (current === body || !refusesUsage(refusal)) return undefined;
      this.#noStreamUsage.add(model);
      return body;
    };
    const thinking = { first: this.#thinkFirst.has(model), found: () => void this.#thinkFirst.add(model) };
    const forward = {
      thinksFirst: thinking.first,
      ...{ wire: 'chat' as const, stream: body['stream'] === true, stripUsage: addUsage },
      choices: typeof body['n'] === 'number' ? body['n'] : 1,
    };
    const passing = to && toPassing(this.#http, to, forward, (own, sent) => toStanding(own, sent, { addUsage: this.#streamsUsage(model) }));
    const forwarded = await sendForwarded(this.#http, {
      signal,
      whole: !forward.stream,
      send: (watchdog) => this.#http.sendAdapted('/chat/completions', asked, watchdog, adapt, passing),
      faultOfEnd: (end) => {
        if (end.unopened) thinking.found();
        return faultOfEnd(end, this.#http, readChatFault);
      },
    });
    return { ...forwarded, thinking };
  }

  faultOfEnd(end: SpliceEnd): Promise<unknown> {
    const fault = faultOfEnd(end, this.#http, readChatFault);
    return Promise.resolve(fault && this.#http.explain(fault));
  }

  embed(body: Record<string, unknown>, signal: AbortSignal): Promise<unknown> {
    return this.#post('/embeddings', body, signal);
  }

  post(path: '/rerank' | '/moderations', body: Record<string, unknown>, signal: AbortSignal): Promise<unknown> {
    return this.#post(path, body, signal);
  }

  #post(path: string, body: Record<string, unknown>, signal: AbortSignal): Promise<unknown> {
    const ask = (): Promise<unknown> => this.#http.watched(signal, (watchdog) => this.#http.json(path, watchdog, body), true);
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

  #streamsUsage(model: string): boolean {
    return this.#quirks.streamOptions !== false && !this.#noStreamUsage.has(model);
  }
}
