import { AnswerText } from '#shared/answer-text.ts';
import type { Usage } from '#shared/rpc/records.ts';
import { count, readUsage, upstreamUsage } from '#shared/http/upstream-usage.ts';
import { z } from '#shared/rpc/zod.ts';
import { readCalledTool } from '../tools/route-call.ts';
import type { Assembler } from './assembled.ts';
import { newCallId, toolCall } from './call-args.ts';
import { readChunk } from './chunk.ts';
import { streamFault } from './openai-errors.ts';
import { type ModelEvent, type ModelRequest, ProviderError } from './provider.ts';

const calledFunction = z.object({
  name: z.string().nullish(),
  arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish(),
});
const toolDelta = z.object({
  index: z.number().int().nonnegative().nullish(),
  id: z.union([z.string(), z.number().transform(String)]).nullish(),
  function: calledFunction.nullish(),
});

const textual = z.object({ text: z.string().nullish() });

const delta = z.object({
  content: z.union([z.string(), z.array(z.object({ text: z.string().nullish(), thinking: z.array(textual).nullish() }))]).nullish(),
  refusal: z.string().nullish(),
  reasoning_content: z.string().nullish(),
  reasoning: z.string().nullish(),
  reasoning_details: z.array(z.record(z.string(), z.unknown())).nullish().catch(null),
  tool_calls: z.array(toolDelta).nullish(),
  /** Deprecated form of `tool_calls`. */
  function_call: calledFunction.nullish(),
  /** Images that the model generated. */
  images: z
    .array(z.object({ image_url: z.object({ url: z.string() }) }))
    .nullish()
    .catch(null),
});

const chunk = z.object({
  choices: z
    .array(
      z.object({
        index: z.number().nullish(),
        delta: delta.nullish(),
        message: delta.nullish(),
        finish_reason: z.string().nullish(),
        stop_reason: z.unknown().optional(),
      }),
    )
    .nullish(),
  usage: upstreamUsage.nullish().catch(null),
  timings: z.unknown().optional(),
});

type ToolDelta = z.infer<typeof toolDelta>;

/** Maximum number of calls in one answer. */
const MAX_CALLS = 1000;

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
  index: number;
  id: string;
  name: string;
  args: string;
}

/** `wire` of the `kept` values of this format; the value is fields of the assistant's message. */
export const WIRE = 'openai';

/** Reasoning fields that some providers require back once the tools have run. */
export type KeptField = 'reasoning_content' | 'reasoning_details';

/** Converts the chunks of one completion (or a whole completion object) to model events. */
export class ChatAssembler implements Assembler {
  readonly #provider: string;
  readonly #calls: PartialCall[] = [];
  readonly #keeps: KeptField | undefined;
  readonly #tellsUnread: ModelRequest['tellsUnread'];
  readonly #text: AnswerText;
  /** Text received since the last event. */
  #pieces: ModelEvent[] = [];
  /** The server sent reasoning separately from the text. */
  #hasReasoning = false;
  #reasoning = '';
  readonly #details: Record<string, unknown>[] = [];
  #usage: Usage | undefined;
  #thought: number | undefined;
  #finish: FinishReason | undefined;
  #stopSequence: string | undefined;

  /**
   * `provider`: display name for error messages. `keeps`: field that the provider requires back. `tellsUnread`: see `ModelRequest`.
   * `thinksFirst`: see `AnswerText`.
   */
  constructor(provider: string, keeps?: KeptField, tellsUnread?: ModelRequest['tellsUnread'], thinksFirst = false) {
    this.#provider = provider;
    this.#keeps = keeps;
    this.#tellsUnread = tellsUnread;
    this.#text = new AnswerText([], ({ text, thought }) => this.#pieces.push({ type: thought ? 'reasoning' : 'text', text }), thinksFirst);
  }

  /** The model closes a thinking tag in its text without having opened it. */
  get isUnopened(): boolean {
    return this.#text.isUnopened;
  }

  /** True after the finish reason; only usage may follow. */
  get finished(): boolean {
    return this.#finish !== undefined;
  }

  /** Reads one chunk as JSON text. Throws `ProviderError` if the chunk is invalid or reports an error. */
  add(data: string): ModelEvent[] {
    const { usage, choices, timings } = readChunk(this.#provider, data, { schema: chunk, fault: streamFault });
    if (usage) this.#usage = readUsage(usage, timings) ?? this.#usage;
    this.#thought = usage?.completion_tokens_details?.reasoning_tokens ?? this.#thought;
    const choice = choices?.find((each) => (each.index ?? 0) === 0);
    if (!choice) return [];
    const out = this.#delta(choice.delta ?? choice.message ?? {});
    // An unknown reason (`eos`, `end_turn`) still means that the model finished. vLLM and others report the text, or the token number, at
    // which they stopped.
    if (choice.finish_reason === 'stop' && typeof choice.stop_reason === 'string') this.#stopSequence = choice.stop_reason;
    if (choice.finish_reason) this.#finish = FINISH.get(choice.finish_reason) ?? 'stop';
    return out;
  }

  /** The events that end the answer: tool calls, usage if known, and `finish`. */
  end(): ModelEvent[] {
    this.#text.end();
    const out: ModelEvent[] = this.#takePieces();
    const calls = this.#calls
      .toSorted((a, b) => a.index - b.index)
      .map(({ id, name, args }) => toolCall(this.#provider, { id: id || newCallId(), tool: name, json: args }, this.#tellsUnread));
    out.push(...calls);
    const called = calls.length > 0;
    const value = this.#keeps === 'reasoning_content' ? this.#reasoning : this.#details;
    if (called && this.#keeps && value.length > 0) out.push({ type: 'keep', kept: { wire: WIRE, value: { [this.#keeps]: value } } });
    const thought = this.#thought === undefined ? {} : { reasoningTokens: count(this.#thought) };
    if (this.#usage) out.push({ type: 'usage', usage: this.#usage, ...thought });
    const reason = this.#finish ?? 'stop';
    const stopSequence = this.#stopSequence;
    out.push({ type: 'finish', reason: called && reason === 'stop' ? 'tool_calls' : reason, ...(stopSequence ? { stopSequence } : {}) });
    return out;
  }

  #delta(part: z.infer<typeof delta>): ModelEvent[] {
    const out: ModelEvent[] = [];
    const pieces = Array.isArray(part.content) ? part.content : [];
    const reasoning = part.reasoning_content || part.reasoning || textOf(pieces.flatMap(({ thinking }) => thinking ?? []));
    if (reasoning) out.push({ type: 'reasoning', text: reasoning });
    this.#hasReasoning ||= reasoning !== '';
    this.#reasoning += reasoning;
    for (const detail of part.reasoning_details ?? []) addDetail(this.#details, detail);
    const content = typeof part.content === 'string' ? part.content : textOf(pieces);
    // A server that sends reasoning separately has already removed it from the text.
    if (content && this.#hasReasoning) out.push({ type: 'text', text: content });
    else if (content) {
      this.#text.add(content);
      out.push(...this.#takePieces());
    }
    for (const { image_url: image } of part.images ?? []) out.push(...toPicture(image.url));
    if (part.refusal) out.push({ type: 'refusal', text: part.refusal });
    const calls = [...(part.tool_calls ?? []), ...(part.function_call ? [{ index: 0, function: part.function_call }] : [])];
    for (const call of calls) this.#collect(call);
    if (calls.length > 0) out.push({ type: 'calling', tools: this.#calls.map(({ name, args }) => readCalledTool(name, args)) });
    return out;
  }

  #takePieces(): ModelEvent[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  #collect({ index, id, function: called }: ToolDelta): void {
    const { name, arguments: given } = called ?? {};
    const args = typeof given === 'string' ? given : given ? JSON.stringify(given) : '';
    let call = this.#find(index ?? undefined, id ?? '', name ?? '', args);
    if (!call) {
      if (this.#calls.length >= MAX_CALLS || (index ?? 0) > MAX_CALLS)
        throw new ProviderError(`${this.#provider} sent too many tool calls.`);
      const next = Math.max(-1, ...this.#calls.map((each) => each.index)) + 1;
      call = { index: index ?? next, id: id ?? '', name: '', args: '' };
      this.#calls.push(call);
    }
    call.id ||= id ?? '';
    // Some servers repeat the name, or its beginning, with each piece.
    call.name = name?.startsWith(call.name) ? name : call.name + (name ?? '');
    call.args += args;
  }

  /** Finds the call that a piece continues; undefined if the piece starts a new one. */
  #find(index: number | undefined, id: string, name: string, args: string): PartialCall | undefined {
    const known = id === '' ? undefined : this.#calls.find((call) => call.id === id);
    if (known) return known;
    // Servers that omit the index send whole calls, or continue the last one.
    const last = index === undefined ? this.#calls.at(-1) : this.#calls.findLast((call) => call.index === index);
    if (!last) return undefined;
    if (id !== '') return last.id === '' && index !== undefined && !isWholeObject(last.args) ? last : undefined;
    if (index === undefined) return name === '' ? last : undefined;
    return name !== '' && isWholeObject(last.args) && isWholeObject(args) ? undefined : last;
  }
}

function isWholeObject(text: string): boolean {
  if (!text.trimStart().startsWith('{')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Parses an image in a data URL. Other URLs are ignored: the model wrote them, so they are not fetched. */
function toPicture(url: string): ModelEvent[] {
  const [, mimeType, data] = /^data:(image\/[\w.+-]+);base64,([\w+/=]+)$/.exec(url) ?? [];
  return mimeType && data ? [{ type: 'picture', picture: { mimeType, data } }] : [];
}

const textOf = (pieces: readonly { text?: string | null | undefined }[]): string => pieces.map(({ text }) => text ?? '').join('');

/** Merges consecutive pieces of one thought, which are sent back as one. */
function addDetail(details: Record<string, unknown>[], detail: Record<string, unknown>): void {
  const last = details.at(-1);
  const field = detail['type'] === 'reasoning.text' ? 'text' : detail['type'] === 'reasoning.summary' ? 'summary' : undefined;
  if (!last || !field || last['type'] !== detail['type'] || last['index'] !== detail['index']) return void details.push({ ...detail });
  Object.assign(last, detail, { [field]: `${stringOf(last[field])}${stringOf(detail[field])}` });
}

const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '');
