import type { ToolCall, Usage } from '#shared/rpc/records.ts';
import { writeSse } from '#shared/http/sse.ts';
import { estimateUsage } from '../providers/estimate.ts';
import type { ModelEvent, ModelMessage } from '../providers/provider.ts';
import { ChunkWriter, completion, type CompletionHead, DONE, type FinishReason } from './completion.ts';
import type { HttpError } from './errors.ts';

/** Model events to be answered over HTTP. */
export interface EventSource {
  events: AsyncIterable<ModelEvent>;
  head: CompletionHead;
  /** What was asked, for an estimate where no usage comes. */
  messages: readonly ModelMessage[];
  /** Told the usage once, at the end. */
  record(usage: Usage): void;
}

/** The whole answer as one object. */
export async function wholeFromEvents({ events, head, messages, record }: EventSource): Promise<Record<string, unknown>> {
  const calls: ToolCall[] = [];
  let text = '';
  let usage: Usage | undefined;
  let finish: FinishReason = 'stop';
  for await (const event of events) {
    if (event.type === 'text') text += event.text;
    else if (event.type === 'tool_call') calls.push(event.call);
    else if (event.type === 'usage') usage = event.usage;
    else if (event.type === 'finish') finish = event.reason;
  }
  usage ??= estimateUsage(messages, text + (calls.length > 0 ? JSON.stringify(calls) : ''));
  record(usage);
  return completion(head, { text, calls, finish, usage });
}

/**
 * The answer as server-sent events. Throws only before the first of them; later failures are an error object in the stream. It ends with
 * exactly one `[DONE]`, unless `signal` says that nobody listens any more.
 */
export async function* streamFromEvents(
  { events, head, messages, record }: EventSource,
  { withUsage, signal, explain }: { withUsage: boolean; signal: AbortSignal; explain: (error: unknown) => HttpError },
): AsyncGenerator<string> {
  const writer = new ChunkWriter(head, withUsage);
  let begun = false;
  let output = '';
  let usage: Usage | undefined;
  let finish: FinishReason = 'stop';
  try {
    for await (const event of events) {
      let out = '';
      if (event.type === 'text') {
        output += event.text;
        out = writer.text(event.text);
      } else if (event.type === 'reasoning') out = writer.reasoning(event.text);
      else if (event.type === 'tool_call') {
        output += JSON.stringify(event.call);
        out = writer.toolCall(event.call);
      } else if (event.type === 'usage') usage = event.usage;
      else if (event.type === 'finish') finish = event.reason;
      if (out === '') continue;
      begun = true;
      yield out;
    }
  } catch (error) {
    if (!begun || signal.aborted) throw error;
    record(usage ?? estimateUsage(messages, output));
    yield writeSse(JSON.stringify(explain(error).body())) + DONE;
    return;
  }
  usage ??= estimateUsage(messages, output);
  record(usage);
  yield writer.end(finish, usage);
}
