import { readMessagesUsage } from '#shared/http/messages-usage.ts';
import { z } from '#shared/rpc/zod.ts';
import { parseCalledTool } from './route-call.ts';
import { ANSWER_TOOL } from './anthropic-options.ts';
import type { Assembler } from './assembler.ts';
import { createCallId, parseToolCall } from './call-args.ts';
import { readChunk } from './chunk.ts';
import { isTransientStatus, shorten } from './upstream-errors.ts';
import { type ModelEvent, type ModelRequest, ProviderError } from './provider.ts';

/** `wire` of the `kept` values of this format; the value is the turn's thinking blocks. */
export const ANTHROPIC_WIRE = 'anthropic';

const tokenCount = z.number().nonnegative().nullish();
const usageSchema = z.object({
  input_tokens: tokenCount,
  output_tokens: tokenCount,
  cache_read_input_tokens: tokenCount,
  cache_creation_input_tokens: tokenCount,
  cache_creation: z.object({ ephemeral_5m_input_tokens: tokenCount, ephemeral_1h_input_tokens: tokenCount }).nullish().catch(null),
  output_tokens_details: z.object({ thinking_tokens: tokenCount }).nullish().catch(null),
});
const index = z.number().int().nonnegative().max(10_000);

const stopDetails = z.object({ explanation: z.string().nullish() }).nullish().catch(null);

const blockSchema = z.looseObject({
  type: z.string(),
  text: z.string().nullish(),
  thinking: z.string().nullish(),
  signature: z.string().nullish(),
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
  stop_details: stopDetails,
});
const failureSchema = z.object({ type: z.string().nullish(), message: z.string() });

const knownEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message_start'), message: z.object({ usage: usageSchema.nullish() }) }),
  z.object({ type: z.literal('content_block_start'), index, content_block: blockSchema }),
  z.object({ type: z.literal('content_block_delta'), index, delta }),
  z.object({ type: z.literal('message_delta'), delta, usage: usageSchema.nullish() }),
  z.object({ type: z.literal('message_stop') }),
  z.object({ type: z.literal('error'), error: failureSchema }),
  // A whole answer, from servers that ignore `stream`.
  z.object({
    type: z.literal('message'),
    content: z.array(blockSchema),
    stop_reason: z.string().nullish(),
    stop_details: stopDetails,
    usage: usageSchema.nullish(),
  }),
]);
const KNOWN_TYPES = new Set(knownEvent.options.map((option) => option.shape.type.value));
const otherEvent = z
  .object({ type: z.string().refine((type) => !KNOWN_TYPES.has(type as never)) })
  .transform(() => ({ type: 'other' as const }));
const EVENT_FORMAT = { schema: z.union([knownEvent, otherEvent]), called: 'an event' };

type FinishReason = Extract<ModelEvent, { type: 'finish' }>['reason'];
const FINISH_REASONS = new Map<string, FinishReason>([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
]);

/** HTTP status for each error type that a stream can contain. */
const ERROR_STATUSES = new Map<string, number>([
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
interface PartialBlock {
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
  readonly #blocks: PartialBlock[] = [];
  /** Block whose arguments are the answer. */
  #answer: PartialBlock | undefined;
  #usage: z.infer<typeof usageSchema> = {};
  #finish: FinishReason | undefined;
  /** Reason of a refusal. */
  #refusal: string | undefined;

  readonly #reportsUnread: ModelRequest['reportsUnread'];

  /** `provider`: display name for error messages. `reportsUnread`: see `ModelRequest`. */
  constructor(provider: string, reportsUnread?: ModelRequest['reportsUnread']) {
    this.#provider = provider;
    this.#reportsUnread = reportsUnread;
  }

  get isFinished(): boolean {
    return this.#finish !== undefined;
  }

  /** Ignores unknown events. */
  add(data: string): ModelEvent[] {
    const event = readChunk(this.#provider, data, EVENT_FORMAT);
    switch (event.type) {
      case 'message_start':
        this.#addUsage(event.message.usage);
        return [];
      case 'content_block_start':
        return this.#begin(event.index, event.content_block);
      case 'content_block_delta':
        return this.#delta(event.index, event.delta);
      case 'message_delta':
        this.#addUsage(event.usage);
        this.#stop(event.delta);
        return [];
      case 'message_stop':
        return [];
      case 'error':
        throw this.#toError(event.error);
      case 'message':
        this.#addUsage(event.usage);
        this.#stop({ ...event, stop_reason: event.stop_reason ?? 'end_turn' });
        return event.content.flatMap((block, blockIndex) => this.#begin(blockIndex, block));
      case 'other':
        return [];
    }
  }

  end(): ModelEvent[] {
    const blocks = this.#blocks.toSorted((a, b) => a.index - b.index);
    // A refused answer runs no tools: a call may be truncated within its arguments.
    const isRefused = this.#refusal !== undefined;
    const calls = isRefused ? [] : blocks.filter(isCall);
    const thoughts = blocks.flatMap(toThinkingBlocks);
    const events: ModelEvent[] = calls.map(({ id, name, json, input }) =>
      parseToolCall(this.#provider, { id: id || createCallId(), tool: name, json: json || input }, this.#reportsUnread),
    );
    if (this.#refusal !== undefined) events.push({ type: 'refusal', text: this.#refusal });
    else if (this.#answer !== undefined && !this.#answer.json) events.push({ type: 'text', text: this.#answer.input || '{}' });
    if (calls.length > 0 && thoughts.length > 0) events.push({ type: 'keep', kept: { wire: ANTHROPIC_WIRE, value: thoughts } });
    const counted = readMessagesUsage(this.#usage);
    const thinkingTokens = this.#usage.output_tokens_details?.thinking_tokens;
    if (counted)
      events.push({ type: 'usage', usage: counted, ...(thinkingTokens == null ? {} : { reasoningTokens: Math.round(thinkingTokens) }) });
    const reason = this.#finish ?? 'stop';
    events.push({ type: 'finish', reason: reason === 'tool_calls' && calls.length === 0 ? 'stop' : reason });
    return events;
  }

  #stop({ stop_reason, stop_details }: Pick<z.infer<typeof delta>, 'stop_reason' | 'stop_details'>): void {
    if (!stop_reason) return;
    this.#finish = FINISH_REASONS.get(stop_reason) ?? 'stop';
    if (stop_reason === 'refusal') this.#refusal = stop_details?.explanation || `${this.#provider} declined to answer for safety reasons.`;
  }

  #begin(blockIndex: number, { type, text, thinking, signature, data, id, name, input }: z.infer<typeof blockSchema>): ModelEvent[] {
    // Some servers give all blocks the same index, and some repeat the start of a call with each piece.
    if (id && this.#findBlock(blockIndex)?.id === id) return [];
    const partialBlock = {
      ...{ index: blockIndex, type },
      id: id ?? '',
      name: name ?? '',
      json: '',
      input: input ? JSON.stringify(input) : undefined,
      thinking: thinking ?? '',
      signature: signature ?? '',
      data: data ?? '',
    };
    this.#blocks.push(partialBlock);
    if (partialBlock.name === ANSWER_TOOL) this.#answer ??= partialBlock;
    if (type === 'text' && text) return [{ type: 'text', text }];
    if (isCall(partialBlock)) return [this.#createCallingEvent()];
    return type === 'thinking' && thinking ? [{ type: 'reasoning', text: thinking }] : [];
  }

  #delta(blockIndex: number, { type, text, thinking, signature, partial_json }: z.infer<typeof delta>): ModelEvent[] {
    const partialBlock = this.#findBlock(blockIndex);
    if (!partialBlock) throw new ProviderError(`${this.#provider} sent an unexpected part of a response.`);
    switch (type) {
      case 'text_delta':
        return text ? [{ type: 'text', text }] : [];
      case 'thinking_delta':
        partialBlock.thinking += thinking ?? '';
        return thinking ? [{ type: 'reasoning', text: thinking }] : [];
      case 'signature_delta':
        partialBlock.signature += signature ?? '';
        return [];
      case 'input_json_delta':
        partialBlock.input ??= '';
        partialBlock.json += partial_json ?? '';
        if (partialBlock === this.#answer) return partial_json ? [{ type: 'text', text: partial_json }] : [];
        return isCall(partialBlock) ? [this.#createCallingEvent()] : [];
      default:
        return [];
    }
  }

  #findBlock(blockIndex: number): PartialBlock | undefined {
    return this.#blocks.findLast(({ index }) => index === blockIndex);
  }

  #createCallingEvent(): ModelEvent {
    return { type: 'calling', tools: this.#blocks.filter(isCall).map(({ name, json }) => parseCalledTool(name, json)) };
  }

  /** Later events contain totals for the whole answer so far. */
  #addUsage(counted: z.infer<typeof usageSchema> | null | undefined): void {
    for (const [name, value] of Object.entries(counted ?? {})) if (value != null) this.#usage = { ...this.#usage, [name]: value };
  }

  #toError({ type, message }: z.infer<typeof failureSchema>): ProviderError {
    const status = ERROR_STATUSES.get(type ?? '');
    return new ProviderError(`${this.#provider} reported an error: ${shorten(message)}`, {
      status,
      retryable: status !== undefined && isTransientStatus(status),
    });
  }
}

const isCall = ({ type, name }: PartialBlock): boolean => type === 'tool_use' && name !== ANSWER_TOOL;

function toThinkingBlocks({ type, thinking, signature, data }: PartialBlock): Record<string, unknown>[] {
  if (type === 'thinking') return [{ type, thinking, signature }];
  return type === 'redacted_thinking' ? [{ type, data }] : [];
}
