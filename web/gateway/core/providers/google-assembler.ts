import { count } from '#shared/http/upstream-usage.ts';
import type { ToolCall, Usage } from '#shared/rpc/records.ts';
import { z } from '#shared/rpc/zod.ts';
import { routeCall } from '../tools/route-call.ts';
import type { Assembler } from './assembled.ts';
import { newCallId } from './call-args.ts';
import { readChunk } from './chunk.ts';
import { mayPass, shorten } from './openai-errors.ts';
import { type ModelEvent, ProviderError } from './provider.ts';

/** `wire` of the `kept` values of this format; the value is the turn's parts as received. */
export const WIRE = 'google';

const piece = z.looseObject({
  text: z.string().nullish(),
  thought: z.boolean().nullish(),
  thoughtSignature: z.string().nullish(),
  /** An image that the model generated. */
  inlineData: z.object({ mimeType: z.string(), data: z.string() }).nullish().catch(null),
  functionCall: z
    .looseObject({ id: z.string().nullish(), name: z.string().min(1), args: z.record(z.string(), z.unknown()).nullish() })
    .nullish(),
});
const tokens = z.number().nonnegative().nullish();
const chunk = z.object({
  candidates: z
    .array(
      z.object({
        index: z.number().nullish(),
        content: z.object({ parts: z.array(piece).nullish() }).nullish(),
        finishReason: z.string().nullish(),
        finishMessage: z.string().nullish(),
      }),
    )
    .nullish(),
  promptFeedback: z.object({ blockReason: z.string().nullish(), blockReasonMessage: z.string().nullish() }).nullish(),
  usageMetadata: z
    .object({
      promptTokenCount: tokens,
      toolUsePromptTokenCount: tokens,
      candidatesTokenCount: tokens,
      thoughtsTokenCount: tokens,
      cachedContentTokenCount: tokens,
    })
    .nullish(),
  error: z.object({ code: z.number().nullish(), message: z.string(), status: z.string().nullish() }).nullish(),
});
type Piece = z.infer<typeof piece>;

/** Finish reasons of blocked content; the answer so far stays valid. */
const BLOCKED = new Set([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
]);
/** Finish reasons of an invalid tool call. */
const STUMBLED = new Set(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS', 'MALFORMED_RESPONSE']);

/** Converts the chunks of one streamed answer to model events. */
export class GoogleAssembler implements Assembler {
  readonly #provider: string;
  readonly #parts: Piece[] = [];
  readonly #calls: ToolCall[] = [];
  #counted: ReturnType<typeof countedOf> | undefined;
  #reason: string | undefined;
  /** Reason of a refusal. */
  #refusal: string | undefined;

  /** `provider`: display name for error messages. */
  constructor(provider: string) {
    this.#provider = provider;
  }

  get finished(): boolean {
    return this.#reason !== undefined || this.#refusal !== undefined;
  }

  add(data: string): ModelEvent[] {
    const { candidates, promptFeedback, usageMetadata, error } = readChunk(this.#provider, data, { schema: chunk });
    if (error) {
      const status = error.code ?? undefined;
      const retryable = status !== undefined && mayPass(status);
      throw new ProviderError(`${this.#provider} reported an error: ${shorten(error.message)}`, { status, retryable });
    }
    if (usageMetadata) this.#counted = countedOf(usageMetadata);
    if (promptFeedback?.blockReason) this.#refuse('request', promptFeedback.blockReason, promptFeedback.blockReasonMessage);
    const candidate = candidates?.find((each) => (each.index ?? 0) === 0);
    if (!candidate) return [];
    const out = (candidate.content?.parts ?? []).flatMap((part) => this.#part(part));
    const reason = candidate.finishReason;
    if (reason && reason !== 'FINISH_REASON_UNSPECIFIED') {
      if (STUMBLED.has(reason)) throw new ProviderError(`${this.#provider} sent an invalid tool call (${reason}).`, { retryable: true });
      if (BLOCKED.has(reason)) this.#refuse('answer', reason, candidate.finishMessage);
      this.#reason = reason;
    }
    return out;
  }

  end(): ModelEvent[] {
    // A refused answer runs no tools.
    const refused = this.#refusal !== undefined;
    const out: ModelEvent[] = refused ? [] : this.#calls.map((call) => ({ type: 'tool_call', call }));
    if (this.#refusal !== undefined) out.push({ type: 'refusal', text: this.#refusal });
    else if (out.length > 0 && this.#parts.some(({ thoughtSignature }) => thoughtSignature))
      out.push({ type: 'keep', kept: { wire: WIRE, value: this.#parts } });
    if (this.#counted) out.push({ type: 'usage', ...this.#counted });
    out.push({ type: 'finish', reason: this.#finish() });
    return out;
  }

  #finish(): Extract<ModelEvent, { type: 'finish' }>['reason'] {
    if (this.#refusal !== undefined) return 'content_filter';
    if (this.#reason === 'MAX_TOKENS') return 'length';
    return this.#calls.length > 0 ? 'tool_calls' : 'stop';
  }

  #part(part: Piece): ModelEvent[] {
    if (part.inlineData?.mimeType.startsWith('image/')) return part.thought ? [] : [{ type: 'picture', picture: part.inlineData }];
    // Some servers repeat a call in the next chunk.
    const called = part.functionCall?.id;
    if (called && this.#calls.some(({ id }) => id === called)) return [];
    this.#keep(part);
    if (part.functionCall) {
      const { id, name, args } = part.functionCall;
      this.#calls.push({ id: id || newCallId(), tool: name, args: args ?? {} });
      return [{ type: 'calling', tools: this.#calls.map((call) => routeCall(call).call.tool) }];
    }
    if (!part.text) return [];
    return [part.thought ? { type: 'reasoning', text: part.text } : { type: 'text', text: part.text }];
  }

  /** Merges consecutive pieces of text, which are sent back as one; a signature keeps its position. */
  #keep(part: Piece): void {
    const last = this.#parts.at(-1);
    const plain = (each: Piece): boolean => typeof each.text === 'string' && !each.functionCall && !each.thoughtSignature;
    if (last && plain(last) && plain(part) && Boolean(last.thought) === Boolean(part.thought)) last.text = `${last.text}${part.text}`;
    else this.#parts.push({ ...part });
  }

  #refuse(what: 'request' | 'answer', reason: string, message: string | null | undefined): void {
    const why = message ? `${reason}: ${shorten(message)}` : reason;
    this.#refusal ??= `${this.#provider} blocked the ${what === 'answer' ? 'reply' : what} for safety reasons (${why}).`;
  }
}

function countedOf(counted: NonNullable<z.infer<typeof chunk>['usageMetadata']>): { usage: Usage; reasoningTokens?: number } {
  const inputTokens = count(counted.promptTokenCount) + count(counted.toolUsePromptTokenCount);
  const outputTokens = count(counted.candidatesTokenCount) + count(counted.thoughtsTokenCount);
  const cacheReadTokens = count(counted.cachedContentTokenCount);
  return {
    usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, cacheReadTokens },
    ...(counted.thoughtsTokenCount == null ? {} : { reasoningTokens: count(counted.thoughtsTokenCount) }),
  };
}
