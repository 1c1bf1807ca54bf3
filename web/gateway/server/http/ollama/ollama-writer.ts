import { createOllamaError } from '#shared/http/ollama-api.ts';
import type { ToolCall, Usage } from '#shared/rpc/record-schemas.ts';
import type { Clock } from '#shared/async/clock.ts';
import { estimateUsage } from '../../../providers/estimate-usage.ts';
import type { ModelEvent, ModelMessage } from '../../../providers/provider.ts';
import type { HttpError } from '../http-error.ts';

/** `chat` returns messages, `generate` a text. */
export type OllamaForm = 'chat' | 'generate';

/** An answer created from model events. */
export interface OllamaSource {
  form: OllamaForm;
  /** As named by the client. */
  model: string;
  events: AsyncIterable<ModelEvent>;
  messages: readonly ModelMessage[];
  /** False: thoughts are omitted. */
  showsReasoning: boolean;
  clock: Pick<Clock, 'now' | 'monotonic'>;
  /** Called once with the usage, at the end. */
  record(usage: Usage): void;
}

interface OllamaPiece {
  text?: string;
  thinking?: string;
  calls?: readonly ToolCall[];
  images?: readonly string[];
}

/** Collects events, and writes them as objects of Ollama's API. */
class OllamaWriter {
  readonly #source: OllamaSource;
  readonly #startedAt: number;
  #firstTokenAt: number | undefined;
  #text = '';
  #thinking = '';
  readonly #calls: ToolCall[] = [];
  readonly #images: string[] = [];
  #usage: Usage | undefined;
  #isTruncated = false;
  #isRecorded = false;

  constructor(source: OllamaSource) {
    this.#source = source;
    this.#startedAt = source.clock.monotonic();
  }

  get hasBegun(): boolean {
    return this.#firstTokenAt !== undefined;
  }

  /** The object for an event; undefined for events that clients do not see. */
  add(event: ModelEvent): Record<string, unknown> | undefined {
    if (event.type !== 'calling') this.#firstTokenAt ??= this.#source.clock.monotonic();
    switch (event.type) {
      case 'text':
      case 'refusal':
        this.#text += event.text;
        return this.#object({ text: event.text });
      case 'reasoning':
        this.#thinking += event.text;
        return this.#source.showsReasoning ? this.#object({ thinking: event.text }) : undefined;
      case 'picture':
        this.#images.push(event.picture.data);
        return this.#object({ images: [event.picture.data] });
      case 'tool_call':
        this.#calls.push(event.call);
        return this.#object({ calls: [event.call] });
      case 'usage':
        this.#usage = event.usage;
        return undefined;
      case 'finish':
        this.#isTruncated = event.reason === 'length';
        return undefined;
      default:
        return undefined;
    }
  }

  /** The last object. `isBuffered`: includes all previous content. */
  end(isBuffered: boolean): Record<string, unknown> {
    const piece = isBuffered ? { text: this.#text, thinking: this.#thinking, calls: this.#calls, images: this.#images } : {};
    const { inputTokens, outputTokens } = this.#computedUsage;
    const now = this.#source.clock.monotonic();
    const firstAt = this.#firstTokenAt ?? now;
    this.record();
    return {
      ...this.#object(piece, this.#source.showsReasoning),
      ...{ done: true, done_reason: this.#isTruncated ? 'length' : 'stop' },
      ...{ total_duration: toNanoseconds(now - this.#startedAt), load_duration: 0 },
      ...{ prompt_eval_count: inputTokens, prompt_eval_duration: toNanoseconds(firstAt - this.#startedAt) },
      ...{ eval_count: outputTokens, eval_duration: toNanoseconds(now - firstAt) },
    };
  }

  record(): void {
    if (!this.#isRecorded) this.#source.record(this.#computedUsage);
    this.#isRecorded = true;
  }

  get #computedUsage(): Usage {
    const { messages, model } = this.#source;
    const allText = this.#thinking + this.#text + (this.#calls.length > 0 ? JSON.stringify(this.#calls) : '');
    return (this.#usage ??= estimateUsage(messages, allText, model));
  }

  #object({ text = '', thinking = '', calls = [], images = [] }: OllamaPiece, showsReasoning = true): Record<string, unknown> {
    const { form, model, clock } = this.#source;
    const more = {
      ...(thinking === '' || !showsReasoning ? {} : { thinking }),
      ...(images.length === 0 ? {} : { images }),
      ...(calls.length === 0 ? {} : { tool_calls: calls.map(toCall) }),
    };
    const body = form === 'generate' ? { response: text, ...more } : { message: { role: 'assistant', content: text, ...more } };
    return { model, created_at: new Date(clock.now()).toISOString(), ...body, done: false };
  }
}

const toNanoseconds = (ms: number): number => Math.max(0, Math.round(ms * 1e6));

const toCall = ({ id, tool, args }: ToolCall, index: number): Record<string, unknown> => ({
  id,
  function: { index, name: tool, arguments: args },
});

/** The whole answer as one object. */
export async function buildOllamaResponse(source: OllamaSource): Promise<Record<string, unknown>> {
  const writer = new OllamaWriter(source);
  try {
    for await (const event of source.events) writer.add(event);
  } finally {
    if (writer.hasBegun) writer.record();
  }
  return writer.end(true);
}

/**
 * The answer as lines of JSON. Throws only before the first of them; a later failure is a line with `error`, unless the client has
 * disconnected.
 */
export async function* streamOllama(
  source: OllamaSource,
  { signal, explain }: { signal: AbortSignal; explain(error: unknown): HttpError },
): AsyncGenerator<string> {
  const writer = new OllamaWriter(source);
  let hasBegun = false;
  try {
    for await (const event of source.events) {
      const object = writer.add(event);
      if (!object) continue;
      hasBegun = true;
      yield toLine(object);
    }
    hasBegun = true;
    yield toLine(writer.end(false));
  } catch (error) {
    if (!hasBegun || signal.aborted) throw error;
    yield toLine(createOllamaError(explain(error).message));
  } finally {
    if (writer.hasBegun) writer.record();
  }
}

const toLine = (object: object): string => `${JSON.stringify(object)}\n`;
