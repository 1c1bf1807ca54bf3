import type { Usage } from '#shared/rpc/record-schemas.ts';
import { CompletionTracker, type CompletionChunk, completionChunk, isUsageOnly } from '#shared/http/completion-tracker.ts';
import { isDone, isKeepAlive, writeSse } from '#shared/http/sse.ts';
import { type PassthroughEvent, splitReasoning, ThinkTagSplitter } from '#shared/http/think-tag-splitter.ts';
import { MAX_HIDDEN_CHARS } from '../../providers/assembler.ts';
import { ChatAssembler } from '../../providers/chat-assembler.ts';
import { createInterruptedError, readChunk } from '../../providers/chunk.ts';
import { readStreamFault } from '../../providers/upstream-errors.ts';
import type { ForwardedResponse } from '../../providers/forwarding-provider.ts';
import { type ModelEvent, ProviderError } from '../../providers/provider.ts';
import { toCompletion, type CompletionHead, DONE_EVENT } from './completion-objects.ts';
import type { HttpError } from './http-error.ts';
import { forwardEvents } from './forward-events.ts';

const GLANCE_FORMAT = { schema: completionChunk, fault: readStreamFault };

/** A chat completion that is forwarded from its provider. */
interface ChatPassthrough {
  /** The provider's display name, for errors. */
  provider: string;
  forwarded: ForwardedResponse;
  /**
   * Called at the end with the upstream's usage, or undefined if it reported none, and the number of generated characters. Returns the
   * usage to report.
   */
  record(usage: Usage | undefined, outputChars: number): Usage;
}

/** Converts a complete response, sent although a stream was requested, to a single chunk. */
function toChunk(completion: CompletionChunk): string {
  const choices = (completion.choices ?? []).map(({ message, ...choiceFields }, index) => {
    const delta = typeof message === 'object' && message !== null ? { ...message } : {};
    const calls =
      'tool_calls' in delta && Array.isArray(delta.tool_calls)
        ? { tool_calls: delta.tool_calls.map((call: object, index) => ({ index, ...call })) }
        : {};
    return { index, ...choiceFields, delta: { ...delta, ...calls } };
  });
  return writeSse(JSON.stringify({ ...completion, object: 'chat.completion.chunk', choices }));
}

/**
 * The upstream's events unchanged, except that thoughts in the text are moved to their own field. Ends with exactly one `[DONE]`.
 * `stripUsage`: omits usage, which the client did not request.
 */
export function forwardChatStream(
  { provider, forwarded, record }: ChatPassthrough,
  {
    choices,
    stripUsage,
    signal,
    explain,
  }: { choices: number; stripUsage: boolean; signal: AbortSignal; explain: (error: unknown) => HttpError },
): AsyncGenerator<string> {
  const { thinking } = forwarded;
  const tracker = new CompletionTracker(choices);
  const splitter = new ThinkTagSplitter<string>(choices, thinking?.first);
  const write = (events: readonly PassthroughEvent<string>[]): string =>
    events.map((event) => writeSse('data' in event ? event.data : event.event)).join('');
  const flush = (): string => write(splitter.end());
  return forwardEvents(
    { provider, forwarded, signal },
    {
      isWhole: () => tracker.isComplete,
      read(item, isLast) {
        if (item.kind === 'whole') {
          const completion = readChunk(provider, item.text, GLANCE_FORMAT);
          tracker.add(completion);
          return { text: toChunk(separateReasoning(completion, forwarded)), isEnd: true };
        }
        if (isDone(item.data)) return { text: '', isEnd: true };
        if (isKeepAlive(item.data)) return { text: '', isEnd: false };
        let chunk: CompletionChunk;
        try {
          chunk = readChunk(provider, item.data, GLANCE_FORMAT);
        } catch (error) {
          // An incomplete event at the very end means a truncated stream.
          throw isLast ? createInterruptedError(provider, error) : error;
        }
        tracker.add(chunk);
        const events = stripUsage && isUsageOnly(chunk) ? [] : splitter.add(chunk, item.data);
        return { text: events ? write(events) : writeSse(item.data), isEnd: false };
      },
      close: () => flush() + DONE_EVENT,
      fail: (fault) => `${flush()}${writeSse(JSON.stringify(explain(fault).body()))}${DONE_EVENT}`,
      count() {
        if (splitter.isUnopened) thinking?.markFound();
        record(tracker.usage, tracker.chars);
      },
    },
  );
}

/** Moves thoughts in the text of a whole completion to their own field. */
function separateReasoning(completion: CompletionChunk, { thinking }: ForwardedResponse): CompletionChunk {
  const split = splitReasoning(completion);
  if (split?.isUnopened) thinking?.markFound();
  return split?.completion ?? completion;
}

/** The upstream's whole answer unchanged; assembled if it was streamed although not requested. Throws `ProviderError`. */
export async function forwardBufferedChat({ provider, forwarded, record }: ChatPassthrough, head: CompletionHead): Promise<string> {
  const assembler = new ChatAssembler(provider, undefined, undefined, forwarded.thinking?.first);
  const events: ModelEvent[] = [];
  let hasEnded = false;
  let chars = 0;
  for await (const { items, last } of forwarded.batches) {
    for (const item of items) {
      if (item.kind === 'whole') {
        const tracker = new CompletionTracker(1);
        const completion = readChunk(provider, item.text, GLANCE_FORMAT);
        tracker.add(completion);
        record(tracker.usage, tracker.chars);
        const result = separateReasoning(completion, forwarded);
        return result === completion ? item.text : JSON.stringify(result);
      }
      chars += item.data.length;
      if (chars > MAX_HIDDEN_CHARS) throw new ProviderError(`${provider} sent a response that is too large.`);
      if (isDone(item.data)) hasEnded = true;
      else if (isKeepAlive(item.data)) continue;
      else if (last) throw createInterruptedError(provider);
      else events.push(...assembler.add(item.data));
    }
    if (hasEnded) break;
  }
  if (!hasEnded && !assembler.isFinished) throw createInterruptedError(provider);
  events.push(...assembler.end());
  if (assembler.isUnopened) forwarded.thinking?.markFound();
  const joinText = (type: 'text' | 'refusal' | 'reasoning'): string =>
    events.map((event) => (event.type === type ? event.text : '')).join('');
  const [text, refusal, reasoning] = [joinText('text'), joinText('refusal'), joinText('reasoning')];
  const calls = events.flatMap((event) => (event.type === 'tool_call' ? [event.call] : []));
  const usageEvent = events.find((event) => event.type === 'usage');
  const finish = events.find((event) => event.type === 'finish')?.reason ?? 'stop';
  const callChars = calls.reduce((sum, { args }) => sum + JSON.stringify(args).length, 0);
  const usage = record(usageEvent?.usage, reasoning.length + text.length + refusal.length + callChars);
  return JSON.stringify(
    toCompletion(head, [{ text, refusal, reasoning, calls, finish }], { usage, reasoningTokens: usageEvent?.reasoningTokens }),
  );
}
