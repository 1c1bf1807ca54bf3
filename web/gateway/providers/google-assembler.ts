import { toTokenCount } from '#shared/http/upstream-usage.ts';
import type { ToolCall, Usage } from '#shared/rpc/record-schemas.ts';
import { z } from '#shared/rpc/zod.ts';
import { routeCall } from './route-call.ts';
import type { Assembler } from './assembler.ts';
import { createCallId } from './call-args.ts';
import { readChunk } from './chunk.ts';
import { isTransientStatus, shorten } from './upstream-errors.ts';
import { type ModelEvent, ProviderError } from './provider.ts';

/** `wire` of the `kept` values of this format; the value is the turn's parts as received. */
export const GOOGLE_WIRE = 'google';

const pieceSchema = z.looseObject({
  text: z.string().nullish(),
  thought: z.boolean().nullish(),
  thoughtSignature: z.string().nullish(),
  /** An image that the model generated. */
  inlineData: z.object({ mimeType: z.string(), data: z.string() }).nullish().catch(null),
  functionCall: z
    .looseObject({ id: z.string().nullish(), name: z.string().min(1), args: z.record(z.string(), z.unknown()).nullish() })
    .nullish(),
});
const tokenCount = z.number().nonnegative().nullish();
const chunkSchema = z.object({
  candidates: z
    .array(
      z.object({
        index: z.number().nullish(),
        content: z.object({ parts: z.array(pieceSchema).nullish() }).nullish(),
        finishReason: z.string().nullish(),
        finishMessage: z.string().nullish(),
      }),
    )
    .nullish(),
  promptFeedback: z.object({ blockReason: z.string().nullish(), blockReasonMessage: z.string().nullish() }).nullish(),
  usageMetadata: z
    .object({
      promptTokenCount: tokenCount,
      toolUsePromptTokenCount: tokenCount,
      candidatesTokenCount: tokenCount,
      thoughtsTokenCount: tokenCount,
      cachedContentTokenCount: tokenCount,
    })
    .nullish(),
  error: z.object({ code: z.number().nullish(), message: z.string(), status: z.string().nullish() }).nullish(),
});
/** A chunk, or all of them: servers that ignore `alt=sse` send a list. */
const bodySchema = z.union([z.array(chunkSchema), chunkSchema.transform((chunk) => [chunk])]);
type GooglePart = z.infer<typeof pieceSchema>;

/** Finish reasons of blocked content; the answer so far stays valid. */
const BLOCK_REASONS = new Set([
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
const INVALID_CALL_REASONS = new Set(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS', 'MALFORMED_RESPONSE']);

/** Converts the chunks of one streamed answer to model events. */
export class GoogleAssembler implements Assembler {
  readonly #provider: string;
  readonly #parts: GooglePart[] = [];
  readonly #calls: ToolCall[] = [];
  #usage: ReturnType<typeof toUsage> | undefined;
  #reason: string | undefined;
  /** Reason of a refusal. */
  #refusal: string | undefined;

  /** `provider`: display name for error messages. */
  constructor(provider: string) {
    this.#provider = provider;
  }

  get isFinished(): boolean {
    return this.#reason !== undefined || this.#refusal !== undefined;
  }

  add(data: string): ModelEvent[] {
    return readChunk(this.#provider, data, { schema: bodySchema }).flatMap((chunk) => this.#addChunk(chunk));
  }

  #addChunk({ candidates, promptFeedback, usageMetadata, error }: z.infer<typeof chunkSchema>): ModelEvent[] {
    if (error) {
      const status = error.code ?? undefined;
      const retryable = status !== undefined && isTransientStatus(status);
      throw new ProviderError(`${this.#provider} reported an error: ${shorten(error.message)}`, { status, retryable });
    }
    if (usageMetadata) this.#usage = toUsage(usageMetadata);
    if (promptFeedback?.blockReason) this.#setRefusal('request', promptFeedback.blockReason, promptFeedback.blockReasonMessage);
    const candidate = candidates?.find((item) => (item.index ?? 0) === 0);
    if (!candidate) return [];
    const events = (candidate.content?.parts ?? []).flatMap((part) => this.#readPart(part));
    const reason = candidate.finishReason;
    if (reason && reason !== 'FINISH_REASON_UNSPECIFIED') {
      if (INVALID_CALL_REASONS.has(reason))
        throw new ProviderError(`${this.#provider} sent an invalid tool call (${reason}).`, { retryable: true });
      if (BLOCK_REASONS.has(reason)) this.#setRefusal('answer', reason, candidate.finishMessage);
      this.#reason = reason;
    }
    return events;
  }

  end(): ModelEvent[] {
    // A refused answer runs no tools.
    const isRefused = this.#refusal !== undefined;
    const events: ModelEvent[] = isRefused ? [] : this.#calls.map((call) => ({ type: 'tool_call', call }));
    if (this.#refusal !== undefined) events.push({ type: 'refusal', text: this.#refusal });
    else if (events.length > 0 && this.#parts.some(({ thoughtSignature }) => thoughtSignature))
      events.push({ type: 'keep', kept: { wire: GOOGLE_WIRE, value: this.#parts } });
    if (this.#usage) events.push({ type: 'usage', ...this.#usage });
    events.push({ type: 'finish', reason: this.#getFinishReason() });
    return events;
  }

  #getFinishReason(): Extract<ModelEvent, { type: 'finish' }>['reason'] {
    if (this.#refusal !== undefined) return 'content_filter';
    if (this.#reason === 'MAX_TOKENS') return 'length';
    return this.#calls.length > 0 ? 'tool_calls' : 'stop';
  }

  #readPart(part: GooglePart): ModelEvent[] {
    if (part.inlineData?.mimeType.startsWith('image/')) return part.thought ? [] : [{ type: 'picture', picture: part.inlineData }];
    // Some servers repeat a call in the next chunk.
    const callId = part.functionCall?.id;
    if (callId && this.#calls.some(({ id }) => id === callId)) return [];
    this.#storePart(part);
    if (part.functionCall) {
      const { id, name, args } = part.functionCall;
      this.#calls.push({ id: id || createCallId(), tool: name, args: args ?? {} });
      return [{ type: 'calling', tools: this.#calls.map((call) => routeCall(call).call.tool) }];
    }
    if (!part.text) return [];
    return [part.thought ? { type: 'reasoning', text: part.text } : { type: 'text', text: part.text }];
  }

  /** Merges consecutive pieces of text, which are sent back as one; a signature keeps its position. */
  #storePart(part: GooglePart): void {
    const last = this.#parts.at(-1);
    const plain = (each: GooglePart): boolean => typeof each.text === 'string' && !each.functionCall && !each.thoughtSignature;
    if (last && plain(last) && plain(part) && Boolean(last.thought) === Boolean(part.thought)) last.text = `${last.text}${part.text}`;
    else this.#parts.push({ ...part });
  }

  #setRefusal(subject: 'request' | 'answer', reason: string, message: string | null | undefined): void {
    const explanation = message ? `${reason}: ${shorten(message)}` : reason;
    this.#refusal ??= `${this.#provider} blocked the ${subject === 'answer' ? 'reply' : subject} for safety reasons (${explanation}).`;
  }
}

function toUsage(metadata: NonNullable<z.infer<typeof chunkSchema>['usageMetadata']>): { usage: Usage; reasoningTokens?: number } {
  const inputTokens = toTokenCount(metadata.promptTokenCount) + toTokenCount(metadata.toolUsePromptTokenCount);
  const outputTokens = toTokenCount(metadata.candidatesTokenCount) + toTokenCount(metadata.thoughtsTokenCount);
  const cacheReadTokens = toTokenCount(metadata.cachedContentTokenCount);
  return {
    usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, cacheReadTokens },
    ...(metadata.thoughtsTokenCount == null ? {} : { reasoningTokens: toTokenCount(metadata.thoughtsTokenCount) }),
  };
}
