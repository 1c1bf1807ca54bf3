import type { ToolCall, Usage } from '#shared/rpc/record-schemas.ts';
import { writeSse } from '#shared/http/sse.ts';
import { estimateUsage } from '../../providers/estimate-usage.ts';
import type { ModelEvent, ModelMessage } from '../../providers/provider.ts';
import { sumOptional, sumUsage } from '../../providers/sum-usage.ts';
import {
  ChunkWriter,
  toCompletion,
  type CompletionChoice,
  type CompletionHead,
  type CompletionUsage,
  DONE_EVENT,
  type FinishReason,
} from './completion-objects.ts';
import type { HttpError } from './http-error.ts';
import { type Annotation, toAnnotations } from './annotations.ts';
import { mergeIterables } from './merge-iterables.ts';

/** Model events to send over HTTP. */
export interface CompletionSource {
  /** One per choice. */
  choices: readonly AsyncIterable<ModelEvent>[];
  head: CompletionHead;
  /** The conversation, for an estimate of the usage if the answer breaks off before any is reported. */
  messages: readonly ModelMessage[];
  /** Called once with the usage, at the end. */
  record(usage: Usage): void;
}

/** A choice that is still being received. */
class ChoiceBuilder implements CompletionChoice {
  text = '';
  refusal = '';
  reasoning = '';
  readonly calls: ToolCall[] = [];
  readonly annotations: Annotation[] = [];
  finish: FinishReason = 'stop';
  isFinished = false;
  reasoningTokens: number | undefined;
  #usage: Usage | undefined;

  add(event: ModelEvent): void {
    if (event.type === 'text') this.text += event.text;
    else if (event.type === 'refusal') this.refusal += event.text;
    else if (event.type === 'reasoning') this.reasoning += event.text;
    else if (event.type === 'tool_call') this.calls.push(event.call);
    else if (event.type === 'citations') this.annotations.push(...toAnnotations(event));
    else if (event.type === 'usage') [this.#usage, this.reasoningTokens] = [event.usage, event.reasoningTokens];
    else if (event.type === 'finish') {
      this.finish = event.reason;
      this.isFinished = true;
    }
  }

  usage(messages: readonly ModelMessage[], model: string): Usage {
    const { reasoning, text, refusal, calls } = this;
    return this.#usage ?? estimateUsage(messages, reasoning + text + refusal + (calls.length > 0 ? JSON.stringify(calls) : ''), model);
  }
}

const computeUsage = (
  choices: readonly ChoiceBuilder[],
  messages: readonly ModelMessage[],
  { model }: CompletionHead,
): CompletionUsage => ({
  usage: choices.map((choice) => choice.usage(messages, model)).reduce(sumUsage),
  reasoningTokens: choices.map((choice) => choice.reasoningTokens).reduce(sumOptional),
});

/** The whole answer as one object. */
export async function buildChatCompletion({ choices, head, messages, record }: CompletionSource): Promise<Record<string, unknown>> {
  const builders = choices.map(() => new ChoiceBuilder());
  let hasBegun = false;
  try {
    for await (const { index, value } of mergeIterables(choices)) {
      hasBegun ||= value.type !== 'calling';
      builders[index]?.add(value);
    }
  } finally {
    // Even after a failure.
    if (hasBegun) record(computeUsage(builders, messages, head).usage);
  }
  return toCompletion(head, builders, computeUsage(builders, messages, head));
}

/**
 * The answer as server-sent events. Throws only before the first of them; later failures are an error object in the stream. Ends with
 * exactly one `[DONE]`, unless `signal` is aborted.
 */
export async function* streamChatCompletion(
  { choices, head, messages, record }: CompletionSource,
  { withUsage, signal, explain }: { withUsage: boolean; signal: AbortSignal; explain: (error: unknown) => HttpError },
): AsyncGenerator<string> {
  const writer = new ChunkWriter(head, withUsage);
  const builders = choices.map(() => new ChoiceBuilder());
  let totals: CompletionUsage | undefined;
  const recordUsage = (): CompletionUsage => {
    if (!totals) record((totals = computeUsage(builders, messages, head)).usage);
    return totals;
  };
  let hasBegun = false;
  try {
    for await (const { index, value } of mergeIterables(choices)) {
      builders[index]?.add(value);
      const chunk = writeChunk(writer, index, value);
      if (chunk === '') continue;
      hasBegun = true;
      yield chunk;
    }
    const unfinished = builders.map(({ isFinished }, index) => (isFinished ? '' : writer.finish(index, 'stop'))).join('');
    yield unfinished + writer.end(recordUsage());
  } catch (error) {
    if (!hasBegun || signal.aborted) throw error;
    recordUsage();
    yield writeSse(JSON.stringify(explain(error).body())) + DONE_EVENT;
  } finally {
    // A client that disconnected has received it.
    if (hasBegun) recordUsage();
  }
}

function writeChunk(writer: ChunkWriter, index: number, event: ModelEvent): string {
  switch (event.type) {
    case 'text':
      return writer.text(index, event.text);
    case 'refusal':
      return writer.refusal(index, event.text);
    case 'reasoning':
      return writer.reasoning(index, event.text);
    case 'tool_call':
      return writer.toolCall(index, event.call);
    case 'citations':
      return writer.annotations(index, toAnnotations(event));
    case 'finish':
      return writer.finish(index, event.reason);
    default:
      return '';
  }
}
