import type { Usage } from '#shared/rpc/records.ts';
import { z } from '#shared/rpc/zod.ts';
import { shorten, streamFault } from './openai-errors.ts';
import { type ModelEvent, ProviderError } from './provider.ts';

const toolDelta = z.object({
  index: z.number().int().nonnegative().nullish(),
  id: z.string().nullish(),
  function: z
    .object({ name: z.string().nullish(), arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish() })
    .nullish(),
});

const delta = z.object({
  content: z.union([z.string(), z.array(z.object({ text: z.string().nullish() }))]).nullish(),
  refusal: z.string().nullish(),
  reasoning_content: z.string().nullish(),
  reasoning: z.string().nullish(),
  tool_calls: z.array(toolDelta).nullish(),
});

const upstreamUsage = z.object({
  prompt_tokens: z.number().nullish(),
  completion_tokens: z.number().nullish(),
  total_tokens: z.number().nullish(),
  prompt_tokens_details: z.object({ cached_tokens: z.number().nullish() }).nullish(),
});

const chunk = z.object({
  choices: z
    .array(z.object({ index: z.number().nullish(), delta: delta.nullish(), message: delta.nullish(), finish_reason: z.string().nullish() }))
    .nullish(),
  usage: upstreamUsage.nullish(),
});

type FinishReason = Extract<ModelEvent, { type: 'finish' }>['reason'];
const FINISH = new Map<string, FinishReason>([
  ['stop', 'stop'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['tool_calls', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['content_filter', 'content_filter'],
]);

interface PartialCall {
  id: string;
  name: string;
  args: string;
}

const count = (value: number | null | undefined): number => Math.max(0, Math.round(value ?? 0));

/** Our usage from the `usage` object of a completion; undefined where it has none. */
export function readUsage(value: unknown): Usage | undefined {
  const parsed = upstreamUsage.safeParse(value);
  if (!parsed.success || (parsed.data.prompt_tokens == null && parsed.data.completion_tokens == null)) return undefined;
  const inputTokens = count(parsed.data.prompt_tokens);
  const outputTokens = count(parsed.data.completion_tokens);
  const cached = parsed.data.prompt_tokens_details?.cached_tokens;
  return {
    inputTokens,
    outputTokens,
    totalTokens: parsed.data.total_tokens == null ? inputTokens + outputTokens : count(parsed.data.total_tokens),
    ...(cached ? { cacheReadTokens: count(cached) } : {}),
  };
}

/** Puts the chunks of one completion (or a whole completion object) together into model events. */
export class ChatAssembler {
  readonly #provider: string;
  readonly #calls: PartialCall[] = [];
  #usage: Usage | undefined;
  #finish: FinishReason | undefined;

  /** `provider` is the display name that errors speak of. */
  constructor(provider: string) {
    this.#provider = provider;
  }

  /** A finish reason has come; only usage may follow. */
  get finished(): boolean {
    return this.#finish !== undefined;
  }

  /** Reads one chunk as JSON text. Throws `ProviderError` for what cannot be read and for an error object. */
  add(data: string): ModelEvent[] {
    let value: unknown;
    try {
      value = JSON.parse(data);
    } catch (cause) {
      throw new ProviderError(`${this.#provider} sent something that is not JSON: ${shorten(data, 80)}`, { cause });
    }
    const fault = streamFault(value);
    if (fault) throw new ProviderError(`${this.#provider} reported an error: ${shorten(fault.message)}`);
    const parsed = chunk.safeParse(value);
    if (!parsed.success)
      throw new ProviderError(`${this.#provider} sent a chunk that cannot be read: ${shorten(data, 80)}`, { cause: parsed.error });
    if (parsed.data.usage) this.#usage = readUsage(parsed.data.usage) ?? this.#usage;
    const choice = parsed.data.choices?.find((each) => (each.index ?? 0) === 0);
    if (!choice) return [];
    const out = this.#delta(choice.delta ?? choice.message ?? {});
    // A reason we do not know (`eos`, `end_turn`) still means that the model came to its end.
    if (choice.finish_reason) this.#finish = FINISH.get(choice.finish_reason) ?? 'stop';
    return out;
  }

  /**
   * The events that close the answer: tool calls, usage if known, and the finish. `done` says that the end was announced (`[DONE]`); without
   * it and without a finish reason the answer broke off, and this throws.
   */
  end(done: boolean): ModelEvent[] {
    if (!done && !this.finished) throw new ProviderError(`${this.#provider} broke off in the middle of its answer`, { retryable: true });
    const out: ModelEvent[] = this.#calls.filter(Boolean).map((call) => ({ type: 'tool_call', call: this.#call(call) }));
    const called = out.length > 0;
    if (this.#usage) out.push({ type: 'usage', usage: this.#usage });
    const reason = this.#finish ?? 'stop';
    out.push({ type: 'finish', reason: called && reason === 'stop' ? 'tool_calls' : reason });
    return out;
  }

  #delta(part: z.infer<typeof delta>): ModelEvent[] {
    const out: ModelEvent[] = [];
    const reasoning = part.reasoning_content || part.reasoning;
    if (reasoning) out.push({ type: 'reasoning', text: reasoning });
    const content = Array.isArray(part.content) ? part.content.map((each) => each.text ?? '').join('') : part.content;
    if (content) out.push({ type: 'text', text: content });
    if (part.refusal) out.push({ type: 'text', text: part.refusal });
    for (const call of part.tool_calls ?? []) this.#collect(call);
    return out;
  }

  #collect(part: z.infer<typeof toolDelta>): void {
    const given = part.function?.arguments;
    const args = typeof given === 'string' ? given : given ? JSON.stringify(given) : '';
    // Servers that leave the index out send whole calls, or go on with the last one.
    const begins = part.index == null && Boolean(part.id || part.function?.name);
    const index = part.index ?? Math.max(0, this.#calls.length - (begins ? 0 : 1));
    if (index > 1000) throw new ProviderError(`${this.#provider} asked for more tool calls than make sense`);
    const call = (this.#calls[index] ??= { id: '', name: '', args: '' });
    call.id ||= part.id ?? '';
    call.name += part.function?.name ?? '';
    call.args += args;
  }

  #call({ id, name, args }: PartialCall): { id: string; tool: string; args: Record<string, unknown> } {
    if (name === '') throw new ProviderError(`${this.#provider} asked for a tool without naming it`);
    let value: unknown;
    try {
      value = args.trim() === '' ? {} : JSON.parse(args);
    } catch (cause) {
      throw new ProviderError(`${this.#provider} asked for the tool ${name} with arguments that are not JSON: ${shorten(args, 80)}`, {
        cause,
      });
    }
    const parsed = z.record(z.string(), z.unknown()).safeParse(value ?? {});
    if (!parsed.success) throw new ProviderError(`${this.#provider} asked for the tool ${name} with arguments that are no object`);
    return { id: id || `call_${crypto.randomUUID().replaceAll('-', '').slice(0, 24)}`, tool: name, args: parsed.data };
  }
}
