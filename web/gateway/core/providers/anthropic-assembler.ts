import { readMessagesUsage } from '#shared/http/messages-usage.ts';
import { z } from '#shared/rpc/zod.ts';
import { readCalledTool } from '../tools/route-call.ts';
import { ANSWER_TOOL } from './anthropic-wishes.ts';
import type { Assembler } from './assembled.ts';
import { newCallId, toolCall } from './call-args.ts';
import { readChunk } from './chunk.ts';
import { mayPass, shorten } from './openai-errors.ts';
import { type ModelEvent, type ModelRequest, ProviderError } from './provider.ts';

/** `wire` of the `kept` values of this format; the value is the turn's thinking blocks. */
export const WIRE = 'anthropic';

const tokens = z.number().nonnegative().nullish();
const usage = z.object({
  input_tokens: tokens,
  output_tokens: tokens,
  cache_read_input_tokens: tokens,
  cache_creation_input_tokens: tokens,
  cache_creation: z.object({ ephemeral_5m_input_tokens: tokens, ephemeral_1h_input_tokens: tokens }).nullish().catch(null),
  output_tokens_details: z.object({ thinking_tokens: tokens }).nullish().catch(null),
});
const index = z.number().int().nonnegative().max(10_000);

const block = z.looseObject({
  type: z.string(),
  text: z.string().nullish(),
  thinking: z.string().nullish(),
  data: z.string().nullish(),
  id: z.string().nullish(),
  name: z.string().nullish(),
  /** Complete arguments, from servers that do not stream them. */
  input: z.record(z.string(), z.unknown()).nullish().catch(null),
});
const delta = z.looseObject({
  type: z.string().nullish(),
  text: z.string().nullish(),
  thinking: z.string().nullish(),
  signature: z.string().nullish(),
  partial_json: z.string().nullish(),
  stop_reason: z.string().nullish(),
  stop_details: z.object({ explanation: z.string().nullish() }).nullish().catch(null),
});
const failure = z.object({ type: z.string().nullish(), message: z.string() });

const known = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message_start'), message: z.object({ usage: usage.nullish() }) }),
  z.object({ type: z.literal('content_block_start'), index, content_block: block }),
  z.object({ type: z.literal('content_block_delta'), index, delta }),
  z.object({ type: z.literal('message_delta'), delta, usage: usage.nullish() }),
  z.object({ type: z.literal('message_stop') }),
  z.object({ type: z.literal('error'), error: failure }),
]);
const KNOWN = new Set(known.options.map((each) => each.shape.type.value));
const other = z
  .object({ type: z.string().refine((type) => !KNOWN.has(type as never)) })
  .transform(({ type }) => ({ type: 'other' as const, name: type }));
const EVENT = { schema: z.union([known, other]), called: 'an event' };

type FinishReason = Extract<ModelEvent, { type: 'finish' }>['reason'];
const FINISH = new Map<string, FinishReason>([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
]);

/** HTTP status for each error type that a stream can contain. */
const STATUS = new Map<string, number>([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['api_error', 500],
  ['timeout_error', 504],
  ['overloaded_error', 529],
]);

/** A content block that is still being received. */
interface Partial {
  index: number;
  type: string;
  id: string;
  name: string;
  json: string;
  /** Arguments sent in `content_block_start`; undefined if there were none. */
  input: string | undefined;
  thinking: string;
  signature: string;
  data: string;
}

/** Converts the events of one streamed message to model events. */
export class AnthropicAssembler implements Assembler {
  readonly #provider: string;
  readonly #blocks: Partial[] = [];
  /** Block whose arguments are the answer. */
  #answer: Partial | undefined;
  #usage: z.infer<typeof usage> = {};
  #finish: FinishReason | undefined;
  /** Reason of a refusal. */
  #refusal: string | undefined;

  readonly #tellsUnread: ModelRequest['tellsUnread'];

  /** `provider`: display name for error messages. `tellsUnread`: see `ModelRequest`. */
  constructor(provider: string, tellsUnread?: ModelRequest['tellsUnread']) {
    this.#provider = provider;
    this.#tellsUnread = tellsUnread;
  }

  get finished(): boolean {
    return this.#finish !== undefined;
  }

  /** Ignores unknown events. */
  add(data: string): ModelEvent[] {
    const event = readChunk(this.#provider, data, EVENT);
    switch (event.type) {
      case 'message_start':
        this.#count(event.message.usage);
        return [];
      case 'content_block_start':
        return this.#begin(event.index, event.content_block);
      case 'content_block_delta':
        return this.#delta(event.index, event.delta);
      case 'message_delta':
        this.#count(event.usage);
        this.#stop(event.delta);
        return [];
      case 'message_stop':
        return [];
      case 'error':
        throw this.#failed(event.error);
      case 'other':
        if (event.name !== 'message') return [];
        throw new ProviderError(`${this.#provider} did not stream its response.`);
    }
  }

  end(): ModelEvent[] {
    const blocks = this.#blocks.toSorted((a, b) => a.index - b.index);
    // A refused answer runs no tools: a call may be truncated within its arguments.
    const refused = this.#refusal !== undefined;
    const calls = refused ? [] : blocks.filter(isCall);
    const thoughts = blocks.flatMap(thoughtOf);
    const out: ModelEvent[] = calls.map(({ id, name, json, input }) =>
      toolCall(this.#provider, { id: id || newCallId(), tool: name, json: json || input }, this.#tellsUnread),
    );
    if (this.#refusal !== undefined) out.push({ type: 'refusal', text: this.#refusal });
    else if (this.#answer !== undefined && !this.#answer.json) out.push({ type: 'text', text: '{}' });
    if (calls.length > 0 && thoughts.length > 0) out.push({ type: 'keep', kept: { wire: WIRE, value: thoughts } });
    const counted = readMessagesUsage(this.#usage);
    const thought = this.#usage.output_tokens_details?.thinking_tokens;
    if (counted) out.push({ type: 'usage', usage: counted, ...(thought == null ? {} : { reasoningTokens: Math.round(thought) }) });
    const reason = this.#finish ?? 'stop';
    out.push({ type: 'finish', reason: reason === 'tool_calls' && calls.length === 0 ? 'stop' : reason });
    return out;
  }

  #stop({ stop_reason, stop_details }: z.infer<typeof delta>): void {
    if (!stop_reason) return;
    this.#finish = FINISH.get(stop_reason) ?? 'stop';
    if (stop_reason === 'refusal') this.#refusal = stop_details?.explanation || `${this.#provider} declined to answer for safety reasons.`;
  }

  #begin(at: number, { type, text, thinking, data, id, name, input }: z.infer<typeof block>): ModelEvent[] {
    // Some servers give all blocks the same index, and some repeat the start of a call with each piece.
    if (id && this.#last(at)?.id === id) return [];
    const begun = {
      ...{ index: at, type },
      id: id ?? '',
      name: name ?? '',
      json: '',
      input: input ? JSON.stringify(input) : undefined,
      thinking: thinking ?? '',
      signature: '',
      data: data ?? '',
    };
    this.#blocks.push(begun);
    if (begun.name === ANSWER_TOOL) this.#answer ??= begun;
    if (type === 'text' && text) return [{ type: 'text', text }];
    if (isCall(begun)) return [this.#calling()];
    return type === 'thinking' && thinking ? [{ type: 'reasoning', text: thinking }] : [];
  }

  #delta(at: number, { type, text, thinking, signature, partial_json }: z.infer<typeof delta>): ModelEvent[] {
    const begun = this.#last(at);
    if (!begun) throw new ProviderError(`${this.#provider} sent an unexpected part of a response.`);
    switch (type) {
      case 'text_delta':
        return text ? [{ type: 'text', text }] : [];
      case 'thinking_delta':
        begun.thinking += thinking ?? '';
        return thinking ? [{ type: 'reasoning', text: thinking }] : [];
      case 'signature_delta':
        begun.signature += signature ?? '';
        return [];
      case 'input_json_delta':
        begun.input ??= '';
        begun.json += partial_json ?? '';
        if (begun === this.#answer) return partial_json ? [{ type: 'text', text: partial_json }] : [];
        return isCall(begun) ? [this.#calling()] : [];
      default:
        return [];
    }
  }

  #last(at: number): Partial | undefined {
    return this.#blocks.findLast(({ index }) => index === at);
  }

  #calling(): ModelEvent {
    return { type: 'calling', tools: this.#blocks.filter(isCall).map(({ name, json }) => readCalledTool(name, json)) };
  }

  /** Later events contain totals for the whole answer so far. */
  #count(counted: z.infer<typeof usage> | null | undefined): void {
    for (const [name, value] of Object.entries(counted ?? {})) if (value != null) this.#usage = { ...this.#usage, [name]: value };
  }

  #failed({ type, message }: z.infer<typeof failure>): ProviderError {
    const status = STATUS.get(type ?? '');
    return new ProviderError(`${this.#provider} reported an error: ${shorten(message)}`, {
      status,
      retryable: status !== undefined && mayPass(status),
    });
  }
}

const isCall = ({ type, name }: Partial): boolean => type === 'tool_use' && name !== ANSWER_TOOL;

function thoughtOf({ type, thinking, signature, data }: Partial): Record<string, unknown>[] {
  if (type === 'thinking') return [{ type, thinking, signature }];
  return type === 'redacted_thinking' ? [{ type, data }] : [];
}
