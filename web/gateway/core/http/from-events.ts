import type { ToolCall, Usage } from '#shared/rpc/records.ts';
import { writeSse } from '#shared/http/sse.ts';
import { estimateUsage } from '../providers/estimate.ts';
import type { ModelEvent, ModelMessage } from '../providers/provider.ts';
import { sumOptional, sumUsage } from '../providers/usage.ts';
import { ChunkWriter, completion, type Choice, type CompletionHead, type Counted, DONE, type FinishReason } from './completion.ts';
import type { HttpError } from './errors.ts';
import { merged } from './merged.ts';

/** Model events to send over HTTP. */
export interface EventSource {
  /** One per choice. */
  choices: readonly AsyncIterable<ModelEvent>[];
  head: CompletionHead;
  /** The conversation, for an estimate of the usage if the answer breaks off before any is reported. */
  messages: readonly ModelMessage[];
  /** Called once with the usage, at the end. */
  record(usage: Usage): void;
}

/** A choice that is still being received. */
class Building implements Choice {
  text = '';
  refusal = '';
  reasoning = '';
  readonly calls: ToolCall[] = [];
  finish: FinishReason = 'stop';
  finished = false;
  reasoningTokens: number | undefined;
  #usage: Usage | undefined;

  add(event: ModelEvent): void {
    if (event.type === 'text') this.text += event.text;
    else if (event.type === 'refusal') this.refusal += event.text;
    else if (event.type === 'reasoning') this.reasoning += event.text;
    else if (event.type === 'tool_call') this.calls.push(event.call);
    else if (event.type === 'usage') [this.#usage, this.reasoningTokens] = [event.usage, event.reasoningTokens];
    else if (event.type === 'finish') {
      this.finish = event.reason;
      this.finished = true;
    }
  }

  usage(messages: readonly ModelMessage[], model: string): Usage {
    const { reasoning, text, refusal, calls } = this;
    return this.#usage ?? estimateUsage(messages, reasoning + text + refusal + (calls.length > 0 ? JSON.stringify(calls) : ''), model);
  }
}

const countedOf = (choices: readonly Building[], messages: readonly ModelMessage[], { model }: CompletionHead): Counted => ({
  usage: choices.map((choice) => choice.usage(messages, model)).reduce(sumUsage),
  reasoningTokens: choices.map((choice) => choice.reasoningTokens).reduce(sumOptional),
});

/** The whole answer as one object. */
export async function wholeFromEvents({ choices, head, messages, record }: EventSource): Promise<Record<string, unknown>> {
  const built = choices.map(() => new Building());
  let begun = false;
  try {
    for await (const { index, value } of merged(choices)) {
      begun ||= value.type !== 'calling';
      built[index]?.add(value);
    }
  } finally {
    // Even after a failure.
    if (begun) record(countedOf(built, messages, head).usage);
  }
  return completion(head, built, countedOf(built, messages, head));
}

/**
 * The answer as server-sent events. Throws only before the first of them; later failures are an error object in the stream. Ends with
 * exactly one `[DONE]`, unless `signal` is aborted.
 */
export async function* streamFromEvents(
  { choices, head, messages, record }: EventSource,
  { withUsage, signal, explain }: { withUsage: boolean; signal: AbortSignal; explain: (error: unknown) => HttpError },
): AsyncGenerator<string> {
  const writer = new ChunkWriter(head, withUsage);
  const built = choices.map(() => new Building());
  let counted: Counted | undefined;
  const count = (): Counted => {
    if (!counted) record((counted = countedOf(built, messages, head)).usage);
    return counted;
  };
  let begun = false;
  try {
    for await (const { index, value } of merged(choices)) {
      built[index]?.add(value);
      const out = written(writer, index, value);
      if (out === '') continue;
      begun = true;
      yield out;
    }
    const unfinished = built.map(({ finished }, index) => (finished ? '' : writer.finish(index, 'stop'))).join('');
    yield unfinished + writer.end(count());
  } catch (error) {
    if (!begun || signal.aborted) throw error;
    count();
    yield writeSse(JSON.stringify(explain(error).body())) + DONE;
  } finally {
    // A client that disconnected has received it.
    if (begun) count();
  }
}

function written(writer: ChunkWriter, index: number, event: ModelEvent): string {
  switch (event.type) {
    case 'text':
      return writer.text(index, event.text);
    case 'refusal':
      return writer.refusal(index, event.text);
    case 'reasoning':
      return writer.reasoning(index, event.text);
    case 'tool_call':
      return writer.toolCall(index, event.call);
    case 'finish':
      return writer.finish(index, event.reason);
    default:
      return '';
  }
}
