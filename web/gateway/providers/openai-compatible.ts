import type { ProviderKind } from '#shared/rpc/record-schemas.ts';
import type { SpliceEnd } from '#shared/link/splice.ts';
import { assembleEvents } from './assembler.ts';
import { ChatAssembler } from './chat-assembler.ts';
import type { EmbeddingProvider } from './embedding-provider.ts';
import type { EndpointProvider } from './endpoint-provider.ts';
import type { ForwardedResponse, ForwardingProvider } from './forwarding-provider.ts';
import { getEndFault, readChatFault, sendForwarded, toPassthroughOptions } from './passthrough-result.ts';
import { parseModelList } from './read-models.ts';
import { type Quirks, getQuirks } from './openai-quirks.ts';
import { adaptBody, createChatBody, rejectsUsage, adaptFieldNames } from './openai-request.ts';
import {
  type ListedModel,
  type ModelEvent,
  type ModelMessage,
  type ModelRequest,
  ProviderError,
  createListedModel,
  isOwnOption,
} from './provider.ts';
import { RefusedOptions } from './refused-options.ts';
import { retry } from './retry.ts';
import type { DrawingProvider, RelayedResponse, RelayingProvider } from './relaying-provider.ts';
import { toCachedRoute } from './cached-route.ts';
import { readChunks } from './upstream-body.ts';
import { UpstreamHttp, type UpstreamOptions } from './upstream-http.ts';
import type { Watchdog } from '#shared/async/watchdog.ts';
import { z } from '#shared/rpc/zod.ts';

/** Maximum number of Ollama models to query; others are listed without details. */
const MAX_QUERIED_MODELS = 60;

const showResponse = z.object({ capabilities: z.array(z.string()).nullish(), model_info: z.record(z.string(), z.unknown()).nullish() });

/** The server's native API is next to the OpenAI one. */
const toNativeUrl = (http: UpstreamHttp, path: string): string => http.baseUrl.replace(/\/v1$/, '') + path;

/** Whether a refusal names a field. `user` is also a role. */
const mentionsField = (refusal: string, field: string): boolean =>
  field === 'user' ? /['"`]user['"`](?! role)/.test(refusal) : refusal.includes(field);

/** Fields of options from settings, which are left out if a server refuses them. */
const OPTION_FIELDS = {
  reasoningEffort: {
    fields: ['reasoning_effort', 'reasoning', 'thinking', 'chat_template_kwargs'],
    mention: /reason|think|effort|template/i,
  },
  verbosity: { fields: ['verbosity'], mention: /verbosity/i },
  temperature: { fields: ['temperature'], mention: /temperature/i },
  topP: { fields: ['top_p'], mention: /top_?p/i },
  seed: { fields: ['seed', 'random_seed'], mention: /seed/i },
  stop: { fields: ['stop'], mention: /\bstop\b/i },
  responseFormat: { fields: ['response_format'], mention: /response_format|json/i },
  maxTokens: { fields: ['max_tokens', 'max_completion_tokens'], mention: /max_(completion_)?tokens/i },
};

interface OpenAiCompatibleOptions extends UpstreamOptions {
  kind?: ProviderKind | undefined;
  /** See `Quirks`. */
  hasChatTemplates?: boolean | undefined;
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
  readonly #thinkingFirstModels = new Set<string>();
  /** Models whose server rejects `stream_options`. */
  readonly #modelsWithoutStreamUsage = new Set<string>();
  /** Request fields that the server of a model rejects. */
  readonly #rejectedFields = new Map<string, Set<string>>();
  readonly #refusedOptions = new RefusedOptions(OPTION_FIELDS);
  readonly #ollamaDetails = new Map<string, ListedModel | null>();

  constructor(options: OpenAiCompatibleOptions) {
    this.id = options.id;
    this.name = options.name;
    this.#kind = options.kind ?? 'openai-compatible';
    const quirks = getQuirks(this.#kind, options.baseUrl);
    this.#quirks = options.hasChatTemplates ? { ...quirks, hasChatTemplates: true } : quirks;
    this.#options = options;
    this.#http = new UpstreamHttp(options, {
      headers: (apiKey): Record<string, string> => (apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
    });
  }

  /** OpenRouter's way: a chat completion that may answer with images. */
  draw(model: string, content: ModelMessage['content'], signal: AbortSignal): AsyncGenerator<ModelEvent> {
    return this.stream({ model, messages: [{ role: 'user', content }], passed: { modalities: ['image', 'text'] } }, signal);
  }

  async *stream({ passed = {}, ...modelRequest }: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const rejected = this.#rejectedFields.get(modelRequest.model) ?? new Set();
    for (const field of Object.keys(passed)) if (rejected.has(field)) modelRequest.onRefusedField?.(field);
    const acceptedRequest = this.#refusedOptions.omitRefused(modelRequest);
    const request = { ...acceptedRequest, passed: Object.fromEntries(Object.entries(passed).filter(([field]) => !rejected.has(field))) };
    const body = createChatBody(request, this.#canStreamUsage(request.model) ? this.#quirks : { ...this.#quirks, streamOptions: false });
    const reduceBody = request.exact && !isOwnOption(request, 'temperature') ? adaptFieldNames : adaptBody;
    const adapt: typeof reduceBody = (current, refusal) => {
      const field = Object.keys(request.passed).find((name) => name in current && mentionsField(refusal, name));
      if (field !== undefined) {
        this.#rejectedFields.set(request.model, rejected.add(field));
        modelRequest.onRefusedField?.(field);
        return Object.fromEntries(Object.entries(current).filter(([name]) => name !== field));
      }
      const reducedBody = reduceBody(current, refusal);
      if (reducedBody && 'stream_options' in current && !('stream_options' in reducedBody))
        this.#modelsWithoutStreamUsage.add(request.model);
      return reducedBody ?? this.#refusedOptions.adapt(request, current, refusal);
    };
    const open = (watchdog: Watchdog): Promise<Response> => this.#http.sendAdapted('/chat/completions', body, watchdog, adapt);
    const assembler = new ChatAssembler(
      this.name,
      this.#quirks.reasoningField,
      request.reportsUnread,
      this.#thinkingFirstModels.has(request.model),
    );
    yield* assembleEvents(this.#http, assembler, { signal, open });
    if (assembler.isUnopened) this.#thinkingFirstModels.add(request.model);
  }

  /** Tries up to three times until the upstream has accepted the request. */
  forward(...[body, signal, options]: Parameters<ForwardingProvider['forward']>): Promise<ForwardedResponse> {
    return retry(() => this.#forward(body, signal, options), { clock: this.#options.clock, signal });
  }

  async #forward(...[body, signal, { addUsage, to }]: Parameters<ForwardingProvider['forward']>): Promise<ForwardedResponse> {
    const model = String(body['model']);
    const requestsUsage = addUsage && this.#canStreamUsage(model);
    const streamOptions = body['stream_options'];
    const options = { ...(typeof streamOptions === 'object' ? streamOptions : {}), include_usage: true };
    const upstreamBody = requestsUsage ? { ...body, stream_options: options } : body;
    // A server that rejects the option gets the caller's own request, now and from then on.
    const adapt = (current: Record<string, unknown>, refusal: string): Record<string, unknown> | undefined => {
      if (current === body || !rejectsUsage(refusal)) return undefined;
      this.#modelsWithoutStreamUsage.add(model);
      return body;
    };
    const thinking = { first: this.#thinkingFirstModels.has(model), markFound: () => void this.#thinkingFirstModels.add(model) };
    const forward = {
      thinksFirst: thinking.first,
      ...{ wire: 'chat' as const, stream: body['stream'] === true, stripUsage: addUsage },
      choices: typeof body['n'] === 'number' ? body['n'] : 1,
    };
    const passthroughOptions =
      to &&
      toPassthroughOptions(this.#http, to, forward, (receivedBody, sent) =>
        toCachedRoute(receivedBody, sent, { addUsage: this.#canStreamUsage(model) }),
      );
    const forwarded = await sendForwarded(this.#http, {
      signal,
      isBuffered: !forward.stream,
      send: (watchdog) => this.#http.sendAdapted('/chat/completions', upstreamBody, watchdog, adapt, passthroughOptions),
      toEndFault: (end) => {
        if (end.unopened) thinking.markFound();
        return getEndFault(end, this.#http, readChatFault);
      },
    });
    return { ...forwarded, thinking };
  }

  toEndFault(end: SpliceEnd): Promise<unknown> {
    const fault = getEndFault(end, this.#http, readChatFault);
    return Promise.resolve(fault && this.#http.explain(fault));
  }

  embed(body: Record<string, unknown>, signal: AbortSignal): Promise<unknown> {
    return this.#post('/embeddings', body, signal);
  }

  post(path: '/rerank' | '/moderations', body: Record<string, unknown>, signal: AbortSignal): Promise<unknown> {
    return this.#post(path, body, signal);
  }

  #post(path: string, body: Record<string, unknown>, signal: AbortSignal): Promise<unknown> {
    const sendRequest = (): Promise<unknown> => this.#http.withWatchdog(signal, (watchdog) => this.#http.json(path, watchdog, body), true);
    return retry(sendRequest, { clock: this.#options.clock, signal });
  }

  relay(...[path, body, signal, options]: Parameters<RelayingProvider['relay']>): Promise<RelayedResponse> {
    const sendRequest = async (): Promise<RelayedResponse> => {
      const watchdog = this.#http.createWatchdog(signal, !options?.streamed);
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
    return retry(sendRequest, { clock: this.#options.clock, signal });
  }

  models(signal: AbortSignal): Promise<ListedModel[]> {
    return this.#http.withWatchdog(signal, async (watchdog) => {
      const nativeModels = this.#kind === 'lmstudio' ? await readLmStudioModels(this.#http, watchdog) : undefined;
      const models = nativeModels ?? parseModelList(await this.#http.json('/models', watchdog));
      if (!models)
        throw new ProviderError(
          `${this.name} does not list models at ${this.#http.baseUrl}/models. Check the base URL.${this.#http.getVersionHint('/models')}`,
        );
      const { hiddenModels } = this.#quirks;
      if (hiddenModels) return models.filter(({ id }) => !hiddenModels.test(id));
      return this.#kind === 'ollama' ? withOllamaDetails(this.#http, models, this.#ollamaDetails, watchdog) : models;
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

  #canStreamUsage(model: string): boolean {
    return this.#quirks.streamOptions !== false && !this.#modelsWithoutStreamUsage.has(model);
  }
}

/** LM Studio's native list, with limits and types; undefined if the server has none (older versions). */
async function readLmStudioModels(http: UpstreamHttp, watchdog: Watchdog): Promise<ListedModel[] | undefined> {
  try {
    return parseModelList(await http.json(toNativeUrl(http, '/api/v0/models'), watchdog));
  } catch {
    watchdog.signal.throwIfAborted();
    return undefined;
  }
}

/** Adds limits and capabilities, which Ollama reports model by model. Omits models that only embed. `cachedDetails` is a cache. */
async function withOllamaDetails(
  http: UpstreamHttp,
  models: readonly ListedModel[],
  cachedDetails: Map<string, ListedModel | null>,
  watchdog: Watchdog,
): Promise<ListedModel[]> {
  const details = models.map(async (model, index): Promise<ListedModel[]> => {
    if (index >= MAX_QUERIED_MODELS) return [model];
    let modelDetails = cachedDetails.get(model.id);
    if (modelDetails === undefined) {
      try {
        modelDetails = toListedModel(model.id, await http.json(toNativeUrl(http, '/api/show'), watchdog, { model: model.id }));
        cachedDetails.set(model.id, modelDetails);
      } catch {
        watchdog.signal.throwIfAborted();
        // Another server on Ollama's port: only its list is available.
        return [model];
      }
    }
    return modelDetails === null ? [] : [modelDetails];
  });
  return (await Promise.all(details)).flat();
}

function toListedModel(id: string, value: unknown): ListedModel | null {
  const parsed = showResponse.safeParse(value);
  if (!parsed.success) return createListedModel(id);
  const { capabilities, model_info } = parsed.data;
  if (capabilities && !capabilities.includes('completion')) return null;
  const context = Object.entries(model_info ?? {}).find(([name]) => name.endsWith('.context_length'))?.[1];
  return createListedModel(id, {
    contextWindow: typeof context === 'number' ? context : null,
    ...(capabilities
      ? { tools: capabilities.includes('tools'), vision: capabilities.includes('vision'), thinking: capabilities.includes('thinking') }
      : {}),
  });
}
