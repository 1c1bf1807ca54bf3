import type { Usage } from '#shared/rpc/records.ts';
import { CompletionWatch, type Glance, glance, isUsageAlone } from '#shared/http/completion-watch.ts';
import { isDone, isKeepAlive, writeSse } from '#shared/http/sse.ts';
import { MAX_UNSEEN } from '../providers/assembled.ts';
import { ChatAssembler } from '../providers/chat-assembler.ts';
import { brokeOff, readChunk } from '../providers/chunk.ts';
import { streamFault } from '../providers/openai-errors.ts';
import type { Forwarded } from '../providers/forwarding.ts';
import { type ModelEvent, ProviderError } from '../providers/provider.ts';
import { completion, type CompletionHead, DONE } from './completion.ts';
import type { HttpError } from './errors.ts';

const GLANCE = { schema: glance, fault: streamFault };

export interface Passing {
  /** The provider's display name, for errors. */
  provider: string;
  forwarded: Forwarded;
  /** Told the upstream's usage at the end; undefined where it gave none, with the characters that were generated. Gives what counts. */
  record(usage: Usage | undefined, outputChars: number): Usage;
}

/** A completion that came whole although a stream was asked for, as the one chunk it would have been. */
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
 * The upstream's events as they are, a batch for each of its network chunks. Throws only before the first; an upstream that fails later
 * leaves an error object in the stream. It ends with exactly one `[DONE]`, unless `signal` says that nobody listens any more. `stripUsage`: the
 * figures of usage are left out, for the caller did not ask for them.
 */
export async function* passStream(
  { provider, forwarded, record }: Passing,
  {
    choices,
    stripUsage,
    signal,
    explain,
  }: { choices: number; stripUsage: boolean; signal: AbortSignal; explain: (error: unknown) => HttpError },
): AsyncGenerator<string> {
  const watch = new CompletionWatch(choices);
  let counted = false;
  const count = (): void => {
    if (!counted) record(watch.usage, watch.chars);
    counted = true;
  };
  let begun = false;
  let announced = false;
  let out = '';
  try {
    for await (const { items, last } of forwarded.batches) {
      for (const item of items) {
        announced = item.kind === 'whole' || isDone(item.data);
        if (announced && item.kind === 'data') break;
        if (item.kind === 'data' && isKeepAlive(item.data)) continue;
        let chunk: Glance;
        try {
          chunk = readChunk(provider, item.kind === 'data' ? item.data : item.text, GLANCE);
        } catch (error) {
          // Half an event at the very end is a stream that was cut.
          throw last && item.kind === 'data' ? brokeOff(provider, error) : error;
        }
        const before = watch.whole;
        watch.see(chunk);
        if (item.kind === 'whole') out += asChunk(chunk);
        else if (!stripUsage || !isUsageAlone(chunk)) out += writeSse(item.data);
        if (watch.whole && !before) forwarded.trailer();
      }
      if (announced) break;
      if (out === '') continue;
      begun = true;
      yield out;
      out = '';
    }
    if (!announced && !watch.whole) throw brokeOff(provider);
    count();
    yield out + DONE;
  } catch (error) {
    if (signal.aborted) throw error;
    // After the last finish reason nothing that matters can be missing.
    const told = watch.whole ? undefined : forwarded.told(error);
    if (told !== undefined && !begun && out === '') throw told;
    begun = true;
    count();
    yield out + (told === undefined ? '' : writeSse(JSON.stringify(explain(told).body()))) + DONE;
  } finally {
    // Who has left has had it.
    if (begun) count();
  }
}

/** The upstream's whole answer, as it is; put together where it streamed although nobody asked it to. Throws `ProviderError`. */
export async function passWhole({ provider, forwarded, record }: Passing, head: CompletionHead): Promise<string> {
  const assembler = new ChatAssembler(provider);
  const events: ModelEvent[] = [];
  let done = false;
  let size = 0;
  for await (const { items, last } of forwarded.batches) {
    for (const item of items) {
      if (item.kind === 'whole') {
        const watch = new CompletionWatch(1);
        watch.see(readChunk(provider, item.text, GLANCE));
        record(watch.usage, watch.chars);
        return item.text;
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
