import type { ToolCall, Usage } from '#shared/rpc/record-schemas.ts';
import { writeSse } from '#shared/http/sse.ts';
import type { ModelEvent } from '../../providers/provider.ts';
import { type Annotation, toCompletionAnnotation } from './annotations.ts';

/** Fields common to all objects of one completion. */
export interface CompletionHead {
  id: string;
  /** Seconds since 1970. */
  created: number;
  /** As named by the client. */
  model: string;
}

export type FinishReason = Extract<ModelEvent, { type: 'finish' }>['reason'];

export const DONE_EVENT = writeSse('[DONE]');

export function createCompletionHead(model: string, now: number): CompletionHead {
  return { id: `chatcmpl-${crypto.randomUUID().replaceAll('-', '')}`, created: Math.floor(now / 1000), model };
}

/** Usage, and how many of the tokens were reasoning, if the provider reports it. */
export interface CompletionUsage {
  usage: Usage;
  reasoningTokens: number | undefined;
}

function toUsageObject({ usage, reasoningTokens }: CompletionUsage): Record<string, unknown> {
  const { inputTokens, outputTokens, totalTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const cacheWrite = cacheWriteTokens === undefined ? {} : { cache_write_tokens: cacheWriteTokens };
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: totalTokens,
    ...((cacheReadTokens ?? cacheWriteTokens) === undefined
      ? {}
      : { prompt_tokens_details: { cached_tokens: cacheReadTokens ?? 0, ...cacheWrite } }),
    ...(reasoningTokens === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
  };
}

const toFunctionCall = ({ id, tool, args }: ToolCall): Record<string, unknown> => ({
  id,
  type: 'function',
  function: { name: tool, arguments: JSON.stringify(args) },
});

/** One complete choice of an answer. */
export interface CompletionChoice {
  text: string;
  refusal: string;
  reasoning: string;
  calls: readonly ToolCall[];
  annotations?: readonly Annotation[];
  finish: FinishReason;
}

function toChoiceObject(
  { text, refusal, reasoning, calls, annotations = [], finish }: CompletionChoice,
  index: number,
): Record<string, unknown> {
  const message = {
    role: 'assistant',
    content: text === '' && (calls.length > 0 || refusal !== '') ? null : text,
    refusal: refusal === '' ? null : refusal,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(calls.length > 0 ? { tool_calls: calls.map(toFunctionCall) } : {}),
    ...(annotations.length > 0 ? { annotations: annotations.map(toCompletionAnnotation) } : {}),
  };
  return { index, message, logprobs: null, finish_reason: finish };
}

/** A whole `chat.completion` object. */
export function toCompletion(
  { id, created, model }: CompletionHead,
  choices: readonly CompletionChoice[],
  completionUsage: CompletionUsage,
): Record<string, unknown> {
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: choices.map(toChoiceObject),
    usage: toUsageObject(completionUsage),
  };
}

/** Writes the `chat.completion.chunk` events of one stream; `withUsage` is `stream_options.include_usage`. */
export class ChunkWriter {
  readonly #head: CompletionHead;
  readonly #withUsage: boolean;
  /** Number of calls so far, for each choice that has begun. */
  readonly #calls = new Map<number, number>();

  constructor(head: CompletionHead, withUsage: boolean) {
    this.#head = head;
    this.#withUsage = withUsage;
  }

  text(index: number, content: string): string {
    return this.#begin(index) + this.#chunk(index, { content });
  }

  refusal(index: number, refusal: string): string {
    return this.#begin(index, null) + this.#chunk(index, { refusal });
  }

  reasoning(index: number, text: string): string {
    return this.#begin(index) + this.#chunk(index, { reasoning_content: text });
  }

  toolCall(index: number, call: ToolCall): string {
    const begin = this.#begin(index);
    const count = this.#calls.get(index) ?? 0;
    this.#calls.set(index, count + 1);
    return begin + this.#chunk(index, { tool_calls: [{ index: count, ...toFunctionCall(call) }] });
  }

  annotations(index: number, annotations: readonly Annotation[]): string {
    return this.#begin(index) + this.#chunk(index, { annotations: annotations.map(toCompletionAnnotation) });
  }

  finish(index: number, reason: FinishReason): string {
    return this.#begin(index) + this.#chunk(index, {}, reason);
  }

  end(completionUsage: CompletionUsage): string {
    return (this.#withUsage ? this.#write({ choices: [], usage: toUsageObject(completionUsage) }) : '') + DONE_EVENT;
  }

  /** The role comes first, in a separate chunk. `content` is null if the first delta is not text. */
  #begin(index: number, content: '' | null = ''): string {
    if (this.#calls.has(index)) return '';
    this.#calls.set(index, 0);
    return this.#chunk(index, { role: 'assistant', content, refusal: null });
  }

  #chunk(index: number, delta: Record<string, unknown>, finish: FinishReason | null = null): string {
    return this.#write({
      choices: [{ index, delta, logprobs: null, finish_reason: finish }],
      ...(this.#withUsage ? { usage: null } : {}),
    });
  }

  #write(rest: Record<string, unknown>): string {
    const { id, created, model } = this.#head;
    return writeSse(JSON.stringify({ id, object: 'chat.completion.chunk', created, model, ...rest }));
  }
}
