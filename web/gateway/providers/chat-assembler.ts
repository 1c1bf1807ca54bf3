import { ReasoningParser } from '#shared/reasoning-parser.ts';
import type { Usage } from '#shared/rpc/record-schemas.ts';
import { toTokenCount, readUsage, upstreamUsage } from '#shared/http/upstream-usage.ts';
import { z } from '#shared/rpc/zod.ts';
import { parseCalledTool } from './route-call.ts';
import type { Assembler } from './assembler.ts';
import { createCallId, parseToolCall } from './call-args.ts';
import { readChunk } from './chunk.ts';
import { readStreamFault } from './upstream-errors.ts';
import { type ModelEvent, type ModelRequest, ProviderError } from './provider.ts';

const functionSchema = z.object({
  name: z.string().nullish(),
  arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish(),
});
const toolDeltaSchema = z.object({
  index: z.number().int().nonnegative().nullish(),
  id: z.union([z.string(), z.number().transform(String)]).nullish(),
  function: functionSchema.nullish(),
});

const textSchema = z.object({ text: z.string().nullish() });

const deltaSchema = z.object({
  content: z.union([z.string(), z.array(z.object({ text: z.string().nullish(), thinking: z.array(textSchema).nullish() }))]).nullish(),
  refusal: z.string().nullish(),
  reasoning_content: z.string().nullish(),
  reasoning: z.string().nullish(),
  reasoning_details: z.array(z.record(z.string(), z.unknown())).nullish().catch(null),
  tool_calls: z.array(toolDeltaSchema).nullish(),
  /** Deprecated form of `tool_calls`. */
  function_call: functionSchema.nullish(),
  /** Images that the model generated. */
  images: z
    .array(z.object({ image_url: z.object({ url: z.string() }) }))
    .nullish()
    .catch(null),
});

const chunkSchema = z.object({
  choices: z
    .array(
      z.object({
        index: z.number().nullish(),
        delta: deltaSchema.nullish(),
        message: deltaSchema.nullish(),
        finish_reason: z.string().nullish(),
        stop_reason: z.unknown().optional(),
      }),
    )
    .nullish(),
  usage: upstreamUsage.nullish().catch(null),
  timings: z.unknown().optional(),
});

type ToolDelta = z.infer<typeof toolDeltaSchema>;

/** Maximum number of calls in one answer. */
const MAX_CALLS = 1000;

type FinishReason = Extract<ModelEvent, { type: 'finish' }>['reason'];
const FINISH_REASONS = new Map<string, FinishReason>([
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
export const OPENAI_WIRE = 'openai';

/** Reasoning fields that some providers require back once the tools have run. */
export type ReasoningField = 'reasoning_content' | 'reasoning_details';

/** Converts the chunks of one completion (or a whole completion object) to model events. */
export class ChatAssembler implements Assembler {
  readonly #provider: string;
  readonly #calls: PartialCall[] = [];
  readonly #reasoningField: ReasoningField | undefined;
  readonly #reportsUnread: ModelRequest['reportsUnread'];
  readonly #text: ReasoningParser;
  /** Text received since the last event. */
  #pieces: ModelEvent[] = [];
  /** The server sent reasoning separately from the text. */
  #hasReasoning = false;
  #reasoning = '';
  readonly #details: Record<string, unknown>[] = [];
  #usage: Usage | undefined;
  #reasoningTokens: number | undefined;
  #finish: FinishReason | undefined;
  #stopSequence: string | undefined;

  /**
   * `provider`: display name for error messages. `reasoningField`: field that the provider requires back. `reportsUnread`: see `ModelRequest`.
   * `startsWithThinking`: see `ReasoningParser`.
   */
  constructor(
    provider: string,
    reasoningField?: ReasoningField,
    reportsUnread?: ModelRequest['reportsUnread'],
    startsWithThinking = false,
  ) {
    this.#provider = provider;
    this.#reasoningField = reasoningField;
    this.#reportsUnread = reportsUnread;
    this.#text = new ReasoningParser(
      [],
      ({ text, thought }) => this.#pieces.push({ type: thought ? 'reasoning' : 'text', text }),
      startsWithThinking,
    );
  }

  /** The model closes a thinking tag in its text without having opened it. */
  get isUnopened(): boolean {
    return this.#text.isUnopened;
  }

  /** True after the finish reason; only usage may follow. */
  get isFinished(): boolean {
    return this.#finish !== undefined;
  }

  /** Reads one chunk as JSON text. Throws `ProviderError` if the chunk is invalid or reports an error. */
  add(data: string): ModelEvent[] {
    const { usage, choices, timings } = readChunk(this.#provider, data, { schema: chunkSchema, fault: readStreamFault });
    if (usage) this.#usage = readUsage(usage, timings) ?? this.#usage;
    this.#reasoningTokens = usage?.completion_tokens_details?.reasoning_tokens ?? this.#reasoningTokens;
    const choice = choices?.find((item) => (item.index ?? 0) === 0);
    if (!choice) return [];
    const events = this.#delta(choice.delta ?? choice.message ?? {});
    // An unknown reason (`eos`, `end_turn`) still means that the model finished. vLLM and others report the text, or the token number, at
    // which they stopped.
    if (choice.finish_reason === 'stop' && typeof choice.stop_reason === 'string') this.#stopSequence = choice.stop_reason;
    if (choice.finish_reason) this.#finish = FINISH_REASONS.get(choice.finish_reason) ?? 'stop';
    return events;
  }

  /** The events that end the answer: tool calls, usage if known, and `finish`. */
  end(): ModelEvent[] {
    this.#text.end();
    const events: ModelEvent[] = this.#drainPieces();
    const calls = this.#calls
      .toSorted((a, b) => a.index - b.index)
      .map(({ id, name, args }) =>
        parseToolCall(this.#provider, { id: id || createCallId(), tool: name, json: args }, this.#reportsUnread),
      );
    events.push(...calls);
    const hasCalls = calls.length > 0;
    const value = this.#reasoningField === 'reasoning_content' ? this.#reasoning : this.#details;
    if (hasCalls && this.#reasoningField && value.length > 0)
      events.push({ type: 'keep', kept: { wire: OPENAI_WIRE, value: { [this.#reasoningField]: value } } });
    const thought = this.#reasoningTokens === undefined ? {} : { reasoningTokens: toTokenCount(this.#reasoningTokens) };
    if (this.#usage) events.push({ type: 'usage', usage: this.#usage, ...thought });
    const reason = this.#finish ?? 'stop';
    const stopSequence = this.#stopSequence;
    events.push({
      type: 'finish',
      reason: hasCalls && reason === 'stop' ? 'tool_calls' : reason,
      ...(stopSequence ? { stopSequence } : {}),
    });
    return events;
  }

  #delta(part: z.infer<typeof deltaSchema>): ModelEvent[] {
    const events: ModelEvent[] = [];
    const pieces = Array.isArray(part.content) ? part.content : [];
    const reasoning = part.reasoning_content || part.reasoning || joinText(pieces.flatMap(({ thinking }) => thinking ?? []));
    if (reasoning) events.push({ type: 'reasoning', text: reasoning });
    this.#hasReasoning ||= reasoning !== '';
    this.#reasoning += reasoning;
    for (const detail of part.reasoning_details ?? []) mergeDetail(this.#details, detail);
    const content = typeof part.content === 'string' ? part.content : joinText(pieces);
    // A server that sends reasoning separately has already removed it from the text.
    if (content && this.#hasReasoning) events.push({ type: 'text', text: content });
    else if (content) {
      this.#text.add(content);
      events.push(...this.#drainPieces());
    }
    for (const { image_url: image } of part.images ?? []) events.push(...toPicture(image.url));
    if (part.refusal) events.push({ type: 'refusal', text: part.refusal });
    const calls = [...(part.tool_calls ?? []), ...(part.function_call ? [{ index: 0, function: part.function_call }] : [])];
    for (const call of calls) this.#addCallDelta(call);
    if (calls.length > 0) events.push({ type: 'calling', tools: this.#calls.map(({ name, args }) => parseCalledTool(name, args)) });
    return events;
  }

  #drainPieces(): ModelEvent[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  #addCallDelta({ index, id, function: called }: ToolDelta): void {
    const { name, arguments: rawArguments } = called ?? {};
    const args = typeof rawArguments === 'string' ? rawArguments : rawArguments ? JSON.stringify(rawArguments) : '';
    let call = this.#findCall(index ?? undefined, id ?? '', name ?? '', args);
    if (!call) {
      if (this.#calls.length >= MAX_CALLS || (index ?? 0) > MAX_CALLS)
        throw new ProviderError(`${this.#provider} sent too many tool calls.`);
      const next = Math.max(-1, ...this.#calls.map((call) => call.index)) + 1;
      call = { index: index ?? next, id: id ?? '', name: '', args: '' };
      this.#calls.push(call);
    }
    call.id ||= id ?? '';
    // Some servers repeat the name, or its beginning, with each piece.
    call.name = name?.startsWith(call.name) ? name : call.name + (name ?? '');
    call.args += args;
  }

  /** Finds the call that a piece continues; undefined if the piece starts a new one. */
  #findCall(index: number | undefined, id: string, name: string, args: string): PartialCall | undefined {
    const match = id === '' ? undefined : this.#calls.find((call) => call.id === id);
    if (match) return match;
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

const joinText = (pieces: readonly { text?: string | null | undefined }[]): string => pieces.map(({ text }) => text ?? '').join('');

/** Merges consecutive pieces of one thought, which are sent back as one. */
function mergeDetail(details: Record<string, unknown>[], detail: Record<string, unknown>): void {
  const last = details.at(-1);
  const field = detail['type'] === 'reasoning.text' ? 'text' : detail['type'] === 'reasoning.summary' ? 'summary' : undefined;
  if (!last || !field || last['type'] !== detail['type'] || last['index'] !== detail['index']) return void details.push({ ...detail });
  Object.assign(last, detail, { [field]: `${toText(last[field])}${toText(detail[field])}` });
}

const toText = (value: unknown): string => (typeof value === 'string' ? value : '');
