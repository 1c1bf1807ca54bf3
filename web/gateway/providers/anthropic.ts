import type { SpliceEnd } from '#shared/link/splice.ts';
import { z } from '#shared/rpc/zod.ts';
import { AnthropicAssembler } from './anthropic-assembler.ts';
import { withDeferral, withoutDeferral } from './anthropic-deferred-tools.ts';
import { adaptMessagesBody, createMessagesBody } from './anthropic-request.ts';
import { assembleEvents } from './assembler.ts';
import type { ForwardedResponse } from './forwarding-provider.ts';
import { isMessageEnd, toMessagesError, MessagesForwarding, type MessagesProvider } from './messages-forwarding.ts';
import { findModel } from './model-table.ts';
import { type ListedModel, createListedModel, type ModelEvent, type ModelRequest, ProviderError } from './provider.ts';
import { RefusedOptions } from './refused-options.ts';
import { UpstreamHttp, type UpstreamOptions } from './upstream-http.ts';
import type { Watchdog } from '#shared/async/watchdog.ts';

const API_VERSION = '2023-06-01';
/** Default for the required `max_tokens`: the smallest limit of current models. */
const DEFAULT_MAX_TOKENS = 8192;
const MAX_PAGES = 10;

/** Fields of options from settings, which are left out if the server refuses them. */
const OPTION_FIELDS = {
  reasoningEffort: { fields: ['thinking', 'output_config.effort'], mention: /think|effort/i },
  temperature: { fields: ['temperature'], mention: /temperature/i },
  topP: { fields: ['top_p'], mention: /top_p/i },
  stop: { fields: ['stop_sequences'], mention: /stop_sequences/i },
};

const supportedSchema = z.object({ supported: z.boolean() }).nullish().catch(null);
const modelSchema = z.object({
  id: z.string().min(1).max(300),
  display_name: z.string().nullish(),
  max_input_tokens: z.number().positive().nullish().catch(null),
  max_tokens: z.number().positive().nullish().catch(null),
  capabilities: z.object({ image_input: supportedSchema, thinking: supportedSchema }).nullish().catch(null),
});
const pageSchema = z.object({ data: z.array(z.unknown()), has_more: z.boolean().nullish(), last_id: z.string().nullish() });

/** Anthropic's Messages API. */
export class Anthropic implements MessagesProvider {
  readonly id: string;
  readonly name: string;
  readonly #http: UpstreamHttp;
  readonly #forwarding: MessagesForwarding;
  /** Output limits as the server last listed them, by model. */
  readonly #limits = new Map<string, number>();
  readonly #refusedOptions = new RefusedOptions(OPTION_FIELDS);
  /** Models that rejected deferred tools. */
  readonly #modelsWithoutDeferral = new Set<string>();

  constructor(options: UpstreamOptions) {
    this.id = options.id;
    this.name = options.name;
    this.#http = new UpstreamHttp(options, {
      headers: (apiKey) => ({
        'anthropic-version': API_VERSION,
        // Without the bridge, the browser sends the request itself, which the API allows only with this header. The key is the user's own.
        'anthropic-dangerous-direct-browser-access': 'true',
        ...(apiKey ? { 'x-api-key': apiKey } : {}),
      }),
      failure: toMessagesError,
    });
    this.#forwarding = new MessagesForwarding(this.#http, options.clock);
  }

  forwardMessages(...args: Parameters<MessagesProvider['forwardMessages']>): Promise<ForwardedResponse> {
    return this.#forwarding.forward(...args);
  }

  countTokens(...args: Parameters<MessagesProvider['countTokens']>): Promise<unknown> {
    return this.#forwarding.count(...args);
  }

  toEndFault(end: SpliceEnd): Promise<unknown> {
    return Promise.resolve(this.#forwarding.toEndFault(end));
  }

  stream(modelRequest: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const withoutDeferred = { ...modelRequest, deferredTools: undefined };
    const request = this.#refusedOptions.omitRefused(
      this.#modelsWithoutDeferral.has(modelRequest.model) ? withoutDeferred : withDeferral(modelRequest, this.#http.baseUrl),
    );
    const limit = this.#limits.get(request.model) ?? findModel('anthropic', request.model)?.maxTokens ?? DEFAULT_MAX_TOKENS;
    const adapt = (body: Record<string, unknown>, refusal: string) => {
      const undeferredBody = withoutDeferral(body, refusal);
      if (!undeferredBody) return this.#refusedOptions.adapt(request, body, refusal) ?? adaptMessagesBody(request, body, refusal);
      this.#modelsWithoutDeferral.add(request.model);
      return { ...undeferredBody, messages: createMessagesBody(withoutDeferred, limit)['messages'] };
    };
    const open = (watchdog: Watchdog): Promise<Response> =>
      this.#http.sendAdapted('/messages', createMessagesBody(request, limit), watchdog, adapt);
    return assembleEvents(this.#http, new AnthropicAssembler(this.name, request.reportsUnread), { signal, open, isEnd: isMessageEnd });
  }

  models(signal: AbortSignal): Promise<ListedModel[]> {
    return this.#http.withWatchdog(signal, async (watchdog) => {
      const models: ListedModel[] = [];
      let after = '';
      for (let count = 0; count < MAX_PAGES; count++) {
        const parsed = pageSchema.safeParse(await this.#http.json(`/models?limit=1000${after}`, watchdog));
        if (!parsed.success)
          throw new ProviderError(`${this.name} does not list models at ${this.#http.baseUrl}/models. Check the base URL.`);
        models.push(...parsed.data.data.flatMap((each) => this.#toListedModels(each)));
        if (!parsed.data.has_more || !parsed.data.last_id) break;
        after = `&after_id=${encodeURIComponent(parsed.data.last_id)}`;
      }
      return models;
    });
  }

  #toListedModels(value: unknown): ListedModel[] {
    const parsed = modelSchema.safeParse(value);
    if (!parsed.success) return [];
    const { id, display_name, max_input_tokens, max_tokens, capabilities } = parsed.data;
    if (max_tokens) this.#limits.set(id, max_tokens);
    return [
      createListedModel(id, {
        name: display_name || null,
        maxTokens: max_tokens ?? null,
        contextWindow: max_input_tokens ?? null,
        tools: true,
        vision: capabilities?.image_input?.supported ?? null,
        thinking: capabilities?.thinking?.supported ?? null,
      }),
    ];
  }
}
