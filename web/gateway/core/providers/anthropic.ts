import type { SpliceEnd } from '#shared/link/splice.ts';
import { z } from '#shared/rpc/zod.ts';
import { AnthropicAssembler } from './anthropic-assembler.ts';
import { withDeferral, withoutDeferral } from './anthropic-deferred.ts';
import { adaptMessagesBody, messagesBody } from './anthropic-request.ts';
import { assembled } from './assembled.ts';
import type { Forwarded } from './forwarding.ts';
import { isEnd, messagesFailure, MessagesForwarding, type MessagesProvider } from './messages-forwarding.ts';
import { findModel } from './model-table.ts';
import { type ListedModel, listedModel, type ModelEvent, type ModelRequest, ProviderError } from './provider.ts';
import { UpstreamHttp, type UpstreamOptions } from './upstream-http.ts';
import type { Watchdog } from './watchdog.ts';

const VERSION = '2023-06-01';
/** Default for the required `max_tokens`: the smallest limit of current models. */
const MAX_TOKENS = 8192;
const PAGES = 10;

const supported = z.object({ supported: z.boolean() }).nullish().catch(null);
const model = z.object({
  id: z.string().min(1).max(300),
  display_name: z.string().nullish(),
  max_input_tokens: z.number().positive().nullish().catch(null),
  max_tokens: z.number().positive().nullish().catch(null),
  capabilities: z.object({ image_input: supported, thinking: supported }).nullish().catch(null),
});
const page = z.object({ data: z.array(z.unknown()), has_more: z.boolean().nullish(), last_id: z.string().nullish() });

/** Anthropic's Messages API. */
export class Anthropic implements MessagesProvider {
  readonly id: string;
  readonly name: string;
  readonly #http: UpstreamHttp;
  readonly #forwarding: MessagesForwarding;
  /** Output limits as the server last listed them, by model. */
  readonly #limits = new Map<string, number>();
  /** Models that rejected deferred tools. */
  readonly #undeferred = new Set<string>();

  constructor(options: UpstreamOptions) {
    this.id = options.id;
    this.name = options.name;
    this.#http = new UpstreamHttp(options, {
      headers: (apiKey) => ({
        'anthropic-version': VERSION,
        // Without the bridge, the browser sends the request itself, which the API allows only with this header. The key is the user's own.
        'anthropic-dangerous-direct-browser-access': 'true',
        ...(apiKey ? { 'x-api-key': apiKey } : {}),
      }),
      failure: messagesFailure,
    });
    this.#forwarding = new MessagesForwarding(this.#http, options.clock);
  }

  forwardMessages(...given: Parameters<MessagesProvider['forwardMessages']>): Promise<Forwarded> {
    return this.#forwarding.forward(...given);
  }

  countTokens(...given: Parameters<MessagesProvider['countTokens']>): Promise<unknown> {
    return this.#forwarding.count(...given);
  }

  faultOfEnd(end: SpliceEnd): Promise<unknown> {
    return Promise.resolve(this.#forwarding.faultOfEnd(end));
  }

  stream(asked: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const plain = { ...asked, deferredTools: undefined };
    const request = this.#undeferred.has(asked.model) ? plain : withDeferral(asked, this.#http.baseUrl);
    const limit = this.#limits.get(request.model) ?? findModel('anthropic', request.model)?.maxTokens ?? MAX_TOKENS;
    const adapt = (body: Record<string, unknown>, refusal: string) => {
      const undeferred = withoutDeferral(body, refusal);
      if (!undeferred) return adaptMessagesBody(request, body, refusal);
      this.#undeferred.add(request.model);
      return { ...undeferred, messages: messagesBody(plain, limit)['messages'] };
    };
    const open = (watchdog: Watchdog): Promise<Response> =>
      this.#http.sendAdapted('/messages', messagesBody(request, limit), watchdog, adapt);
    return assembled(this.#http, new AnthropicAssembler(this.name, request.tellsUnread), { signal, open, isEnd });
  }

  models(signal: AbortSignal): Promise<ListedModel[]> {
    return this.#http.watched(signal, async (watchdog) => {
      const models: ListedModel[] = [];
      let after = '';
      for (let count = 0; count < PAGES; count++) {
        const parsed = page.safeParse(await this.#http.json(`/models?limit=1000${after}`, watchdog));
        if (!parsed.success)
          throw new ProviderError(`${this.name} does not list models at ${this.#http.baseUrl}/models. Check the base URL.`);
        models.push(...parsed.data.data.flatMap((each) => this.#read(each)));
        if (!parsed.data.has_more || !parsed.data.last_id) break;
        after = `&after_id=${encodeURIComponent(parsed.data.last_id)}`;
      }
      return models;
    });
  }

  #read(value: unknown): ListedModel[] {
    const parsed = model.safeParse(value);
    if (!parsed.success) return [];
    const { id, display_name, max_input_tokens, max_tokens, capabilities } = parsed.data;
    if (max_tokens) this.#limits.set(id, max_tokens);
    return [
      listedModel(id, {
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
