import type { Usage } from '#shared/rpc/records.ts';
import { CompletionWatch, type Glance, glance, isUsageAlone } from '#shared/http/completion-watch.ts';
import { isDone, isKeepAlive, writeSse } from '#shared/http/sse.ts';
import { type PassingEvent, splitThoughts, ThinkMarks } from '#shared/http/think-marks.ts';
import { MAX_UNSEEN } from '../providers/assembled.ts';
import { ChatAssembler } from '../providers/chat-assembler.ts';
import { brokeOff, readChunk } from '../providers/chunk.ts';
import { streamFault } from '../providers/openai-errors.ts';
import type { Forwarded } from '../providers/forwarding.ts';
import { type ModelEvent, ProviderError } from '../providers/provider.ts';
import { completion, type CompletionHead, DONE } from './completion.ts';
import type { HttpError } from './errors.ts';
import { passEvents } from './pass-events.ts';

const GLANCE = { schema: glance, fault: streamFault };

export interface Passing {
  /** The provider's display name, for errors. */
  provider: string;
  forwarded: Forwarded;
  /**
   * Called at the end with the upstream's usage, or undefined if it reported none, and the number of generated characters. Returns the
   * usage to report.
   */
  record(usage: Usage | undefined, outputChars: number): Usage;
}

/** Converts a whole completion, sent although a stream was requested, to a single chunk. */
function asChunk(whole: Glance): string {
  const choices = (whole.choices ?? []).map(({ message, ...rest }, index) => {
    const delta = typeof message === 'object' && message !== null ? { ...message } : {};
    const calls =
      'tool_calls' in delta && Array.isArray(delta.tool_calls)
        ? { tool_calls: delta.tool_calls.map((call: object, at) => ({ index: at, ...call })) }
        : {};
    return { index, ...rest, delta: { ...delta, ...calls } };
  });
  return writeSse(JSON.stringify({ ...whole, object: 'chat.completion.chunk', choices }));
}

/**
 * The upstream's events unchanged, except that thoughts in the text are moved to their own field. Ends with exactly one `[DONE]`.
 * `stripUsage`: omits usage, which the client did not request.
 */
export function passStream(
  { provider, forwarded, record }: Passing,
  {
    choices,
    stripUsage,
    signal,
    explain,
  }: { choices: number; stripUsage: boolean; signal: AbortSignal; explain: (error: unknown) => HttpError },
): AsyncGenerator<string> {
  const { thinking } = forwarded;
  const watch = new CompletionWatch(choices);
  const marks = new ThinkMarks<string>(choices, thinking?.first);
  const write = (events: readonly PassingEvent<string>[]): string =>
    events.map((each) => writeSse('data' in each ? each.data : each.event)).join('');
  const rest = (): string => write(marks.end());
  return passEvents(
    { provider, forwarded, signal },
    {
      isWhole: () => watch.whole,
      read(item, isLast) {
        if (item.kind === 'whole') {
          const whole = readChunk(provider, item.text, GLANCE);
          watch.see(whole);
          return { text: asChunk(apart(whole, forwarded)), isEnd: true };
        }
        if (isDone(item.data)) return { text: '', isEnd: true };
        if (isKeepAlive(item.data)) return { text: '', isEnd: false };
        let chunk: Glance;
        try {
          chunk = readChunk(provider, item.data, GLANCE);
        } catch (error) {
          // An incomplete event at the very end means a truncated stream.
          throw isLast ? brokeOff(provider, error) : error;
        }
        watch.see(chunk);
        const events = stripUsage && isUsageAlone(chunk) ? [] : marks.see(chunk, item.data);
        return { text: events ? write(events) : writeSse(item.data), isEnd: false };
      },
      close: () => rest() + DONE,
      fail: (fault) => `${rest()}${writeSse(JSON.stringify(explain(fault).body()))}${DONE}`,
      count() {
        if (marks.isUnopened) thinking?.found();
        record(watch.usage, watch.chars);
      },
    },
  );
}

/** Moves thoughts in the text of a whole completion to their own field. */
function apart(whole: Glance, { thinking }: Forwarded): Glance {
  const split = splitThoughts(whole);
  if (split?.isUnopened) thinking?.found();
  return split?.completion ?? whole;
}

/** The upstream's whole answer unchanged; assembled if it was streamed although not requested. Throws `ProviderError`. */
export async function passWhole({ provider, forwarded, record }: Passing, head: CompletionHead): Promise<string> {
  const assembler = new ChatAssembler(provider, undefined, undefined, forwarded.thinking?.first);
  const events: ModelEvent[] = [];
  let done = false;
  let size = 0;
  for await (const { items, last } of forwarded.batches) {
    for (const item of items) {
      if (item.kind === 'whole') {
        const watch = new CompletionWatch(1);
        const whole = readChunk(provider, item.text, GLANCE);
        watch.see(whole);
        record(watch.usage, watch.chars);
        const shown = apart(whole, forwarded);
        return shown === whole ? item.text : JSON.stringify(shown);
      }
      size += item.data.length;
      if (size > MAX_UNSEEN) throw new ProviderError(`${provider} sent a response that is too large.`);
      if (isDone(item.data)) done = true;
      else if (isKeepAlive(item.data)) continue;
      else if (last) throw brokeOff(provider);
      else events.push(...assembler.add(item.data));
    }
    if (done) break;
  }
  if (!done && !assembler.finished) throw brokeOff(provider);
  events.push(...assembler.end());
  if (assembler.isUnopened) forwarded.thinking?.found();
  const joined = (type: 'text' | 'refusal' | 'reasoning'): string =>
    events.map((event) => (event.type === type ? event.text : '')).join('');
  const [text, refusal, reasoning] = [joined('text'), joined('refusal'), joined('reasoning')];
  const calls = events.flatMap((event) => (event.type === 'tool_call' ? [event.call] : []));
  const told = events.find((event) => event.type === 'usage');
  const finish = events.find((event) => event.type === 'finish')?.reason ?? 'stop';
  const called = calls.reduce((sum, { args }) => sum + JSON.stringify(args).length, 0);
  const usage = record(told?.usage, reasoning.length + text.length + refusal.length + called);
  return JSON.stringify(completion(head, [{ text, refusal, reasoning, calls, finish }], { usage, reasoningTokens: told?.reasoningTokens }));
}
