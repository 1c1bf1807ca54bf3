import type { ToolCall, Usage } from '#shared/rpc/records.ts';
import { writeSse } from '#shared/http/sse.ts';
import type { ModelEvent } from '../providers/provider.ts';

/** What all objects of one completion share. */
export interface CompletionHead {
  id: string;
  /** Seconds since 1970. */
  created: number;
  /** As the caller named it. */
  model: string;
}

export type FinishReason = Extract<ModelEvent, { type: 'finish' }>['reason'];

export const DONE = writeSse('[DONE]');

export function completionHead(model: string, now: number): CompletionHead {
  return { id: `chatcmpl-${crypto.randomUUID().replaceAll('-', '')}`, created: Math.floor(now / 1000), model };
}

export function usageObject({ inputTokens, outputTokens, totalTokens, cacheReadTokens }: Usage): Record<string, unknown> {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: totalTokens,
    ...(cacheReadTokens === undefined ? {} : { prompt_tokens_details: { cached_tokens: cacheReadTokens } }),
  };
}

const functionCall = ({ id, tool, args }: ToolCall): Record<string, unknown> => ({
  id,
  type: 'function',
  function: { name: tool, arguments: JSON.stringify(args) },
});

/** A whole `chat.completion` (interface document 1, section 4.3). */
export function completion(
  { id, created, model }: CompletionHead,
  { text, calls, finish, usage }: { text: string; calls: readonly ToolCall[]; finish: FinishReason; usage: Usage },
): Record<string, unknown> {
  const message = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal: null,
    ...(calls.length > 0 ? { tool_calls: calls.map(functionCall) } : {}),
  };
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
    usage: usageObject(usage),
    system_fingerprint: null,
  };
}

/** Writes the `chat.completion.chunk` events of one stream; `withUsage` is `stream_options.include_usage`. */
export class ChunkWriter {
  readonly #head: CompletionHead;
  readonly #withUsage: boolean;
  #begun = false;
  #calls = 0;

  constructor(head: CompletionHead, withUsage: boolean) {
    this.#head = head;
    this.#withUsage = withUsage;
  }

  text(content: string): string {
    return this.#begin() + this.#chunk({ content });
  }

  reasoning(text: string): string {
    return this.#begin() + this.#chunk({ reasoning_content: text });
  }

  toolCall(call: ToolCall): string {
    return this.#begin() + this.#chunk({ tool_calls: [{ index: this.#calls++, ...functionCall(call) }] });
  }

  end(finish: FinishReason, usage: Usage): string {
    const last = this.#begin() + this.#chunk({}, finish);
    return (this.#withUsage ? last + this.#write({ choices: [], usage: usageObject(usage) }) : last) + DONE;
  }

  /** The role comes first, in a chunk of its own. */
  #begin(): string {
    if (this.#begun) return '';
    this.#begun = true;
    return this.#chunk({ role: 'assistant', content: '', refusal: null });
  }

  #chunk(delta: Record<string, unknown>, finish: FinishReason | null = null): string {
    return this.#write({
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...(this.#withUsage ? { usage: null } : {}),
    });
  }

  #write(rest: Record<string, unknown>): string {
    const { id, created, model } = this.#head;
    return writeSse(JSON.stringify({ id, object: 'chat.completion.chunk', created, model, system_fingerprint: null, ...rest }));
  }
}
