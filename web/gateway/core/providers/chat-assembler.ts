import type { Usage } from '#shared/rpc/records.ts';
import { count, readUsage, upstreamUsage } from '#shared/http/upstream-usage.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Assembler } from './assembled.ts';
import { newCallId, toolCall } from './call-args.ts';
import { readChunk } from './chunk.ts';
import { streamFault } from './openai-errors.ts';
import { type ModelEvent, type ModelRequest, ProviderError } from './provider.ts';

const toolDelta = z.object({
  index: z.number().int().nonnegative().nullish(),
  id: z.string().nullish(),
  function: z
    .object({ name: z.string().nullish(), arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish() })
    .nullish(),
});

const textual = z.object({ text: z.string().nullish() });

const delta = z.object({
  content: z.union([z.string(), z.array(z.object({ text: z.string().nullish(), thinking: z.array(textual).nullish() }))]).nullish(),
  refusal: z.string().nullish(),
  reasoning_content: z.string().nullish(),
  reasoning: z.string().nullish(),
  reasoning_details: z.array(z.record(z.string(), z.unknown())).nullish().catch(null),
  tool_calls: z.array(toolDelta).nullish(),
});

const chunk = z.object({
  choices: z
    .array(z.object({ index: z.number().nullish(), delta: delta.nullish(), message: delta.nullish(), finish_reason: z.string().nullish() }))
    .nullish(),
  usage: upstreamUsage.nullish().catch(null),
  timings: z.unknown().optional(),
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

/** What the `kept` of this wire is marked with; its value are fields of the assistant's message. */
export const WIRE = 'openai';

/** Fields of thought that some providers want back when the tools have run. */
export type KeptField = 'reasoning_content' | 'reasoning_details';

/** Puts the chunks of one completion (or a whole completion object) together into model events. */
export class ChatAssembler implements Assembler {
  readonly #provider: string;
  readonly #calls: PartialCall[] = [];
  readonly #keeps: KeptField | undefined;
  readonly #tellsUnread: ModelRequest['tellsUnread'];
  #reasoning = '';
  readonly #details: Record<string, unknown>[] = [];
  #usage: Usage | undefined;
  #thought: number | undefined;
  #finish: FinishReason | undefined;

  /** `provider` is the display name that errors speak of; `keeps` the field that it wants back; `tellsUnread` as in the request. */
  constructor(provider: string, keeps?: KeptField, tellsUnread?: ModelRequest['tellsUnread']) {
    this.#provider = provider;
    this.#keeps = keeps;
    this.#tellsUnread = tellsUnread;
  }

  /** A finish reason has come; only usage may follow. */
  get finished(): boolean {
    return this.#finish !== undefined;
  }

  /** Reads one chunk as JSON text. Throws `ProviderError` for what cannot be read and for an error object. */
  add(data: string): ModelEvent[] {
    const { usage, choices, timings } = readChunk(this.#provider, data, { schema: chunk, fault: streamFault });
    if (usage) this.#usage = readUsage(usage, timings) ?? this.#usage;
    this.#thought = usage?.completion_tokens_details?.reasoning_tokens ?? this.#thought;
    const choice = choices?.find((each) => (each.index ?? 0) === 0);
    if (!choice) return [];
    const out = this.#delta(choice.delta ?? choice.message ?? {});
    // A reason we do not know (`eos`, `end_turn`) still means that the model came to its end.
    if (choice.finish_reason) this.#finish = FINISH.get(choice.finish_reason) ?? 'stop';
    return out;
  }

  /** The events that close the answer: tool calls, usage if known, and the finish. */
  end(): ModelEvent[] {
    const out: ModelEvent[] = this.#calls
      .filter(Boolean)
      .map(({ id, name, args }) => toolCall(this.#provider, { id: id || newCallId(), tool: name, json: args }, this.#tellsUnread));
    const called = out.length > 0;
    const value = this.#keeps === 'reasoning_content' ? this.#reasoning : this.#details;
    if (called && this.#keeps && value.length > 0) out.push({ type: 'keep', kept: { wire: WIRE, value: { [this.#keeps]: value } } });
    const thought = this.#thought === undefined ? {} : { reasoningTokens: count(this.#thought) };
    if (this.#usage) out.push({ type: 'usage', usage: this.#usage, ...thought });
    const reason = this.#finish ?? 'stop';
    out.push({ type: 'finish', reason: called && reason === 'stop' ? 'tool_calls' : reason });
    return out;
  }

  #delta(part: z.infer<typeof delta>): ModelEvent[] {
    const out: ModelEvent[] = [];
    const pieces = Array.isArray(part.content) ? part.content : [];
    const reasoning = part.reasoning_content || part.reasoning || textOf(pieces.flatMap(({ thinking }) => thinking ?? []));
    if (reasoning) out.push({ type: 'reasoning', text: reasoning });
    this.#reasoning += reasoning;
    for (const detail of part.reasoning_details ?? []) addDetail(this.#details, detail);
    const content = typeof part.content === 'string' ? part.content : textOf(pieces);
    if (content) out.push({ type: 'text', text: content });
    if (part.refusal) out.push({ type: 'refusal', text: part.refusal });
    for (const call of part.tool_calls ?? []) this.#collect(call);
    if (part.tool_calls?.length) out.push({ type: 'calling', tools: this.#calls.filter(Boolean).map(({ name }) => name) });
    return out;
  }

  #collect(part: z.infer<typeof toolDelta>): void {
    const given = part.function?.arguments;
    const args = typeof given === 'string' ? given : given ? JSON.stringify(given) : '';
    // Servers that leave the index out send whole calls, or go on with the last one.
    const begins = part.index == null && Boolean(part.id || part.function?.name);
    const index = part.index ?? Math.max(0, this.#calls.length - (begins ? 0 : 1));
    if (index > 1000) throw new ProviderError(`${this.#provider} sent too many tool calls.`);
    const call = (this.#calls[index] ??= { id: '', name: '', args: '' });
    call.id ||= part.id ?? '';
    call.name += part.function?.name ?? '';
    call.args += args;
  }
}

const textOf = (pieces: readonly { text?: string | null | undefined }[]): string => pieces.map(({ text }) => text ?? '').join('');

/** Pieces of one thought come one after another; they go back as one. */
function addDetail(details: Record<string, unknown>[], detail: Record<string, unknown>): void {
  const last = details.at(-1);
  const field = detail['type'] === 'reasoning.text' ? 'text' : detail['type'] === 'reasoning.summary' ? 'summary' : undefined;
  if (!last || !field || last['type'] !== detail['type'] || last['index'] !== detail['index']) return void details.push({ ...detail });
  Object.assign(last, detail, { [field]: `${stringOf(last[field])}${stringOf(detail[field])}` });
}

const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '');
