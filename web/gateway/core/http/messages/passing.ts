import { MessageWatch } from '#shared/http/message-watch.ts';
import { writeEvent } from '#shared/http/messages-api.ts';
import { parseJson } from '#shared/parse-json.ts';
import type { Usage } from '#shared/rpc/records.ts';
import { AnthropicAssembler } from '../../providers/anthropic-assembler.ts';
import { MAX_UNSEEN } from '../../providers/assembled.ts';
import { brokeOff } from '../../providers/chunk.ts';
import type { Forwarded } from '../../providers/forwarding.ts';
import { isEnd, readFault } from '../../providers/messages-forwarding.ts';
import { ProviderError } from '../../providers/provider.ts';
import { passEvents } from '../pass-events.ts';
import { MessageBuilder, type MessageHead } from './output.ts';

export interface MessagePassing {
  /** The provider's display name, for errors. */
  provider: string;
  forwarded: Forwarded;
  /** Called at the end with the upstream's usage, or undefined if it reported none, and with the number of generated characters. */
  record(usage: Usage | undefined, chars: number): void;
}

/** Anthropic's own events, unchanged. The last one is `message_stop` or `error`. */
export function passMessageStream(
  { provider, forwarded, record }: MessagePassing,
  { signal, told }: { signal: AbortSignal; told(error: unknown): string },
): AsyncGenerator<string> {
  const watch = new MessageWatch();
  return passEvents(
    { provider, forwarded, signal },
    {
      isWhole: () => watch.whole,
      read(item, isLast) {
        if (item.kind === 'whole') return { text: asEvents(provider, item.text, watch), isEnd: true };
        const seen = watch.see(item.data);
        // An incomplete event at the very end means a truncated stream.
        if (seen === 'odd') throw isLast && !isJson(item.data) ? brokeOff(provider) : readFault(provider, item.data);
        return { text: `event: ${typeOf(item.data)}\ndata: ${item.data}\n\n`, isEnd: seen === 'last' };
      },
      close: (hasEnded) => (hasEnded ? '' : STOP),
      fail: told,
      count: () => record(watch.usage, watch.chars),
    },
  );
}

const STOP = writeEvent({ type: 'message_stop' });

const isJson = (data: string): boolean => {
  try {
    parseJson(data);
    return true;
  } catch {
    return false;
  }
};

const typeOf = (data: string): string => (JSON.parse(data) as { type: string }).type;

/** Converts a whole message, sent although a stream was requested, to events. */
function asEvents(provider: string, text: string, watch: MessageWatch): string {
  if (!watch.seeWhole(text)) throw readFault(provider, text);
  const { content, stop_reason, stop_sequence, usage, ...head } = parseJson(text) as Record<string, unknown> & { content: unknown[] };
  const blocks = content.flatMap((content_block, index) => [
    writeEvent({ type: 'content_block_start', index, content_block }),
    writeEvent({ type: 'content_block_stop', index }),
  ]);
  const message = { ...head, content: [], stop_reason: null, stop_sequence: null, usage };
  const delta = { stop_reason, stop_sequence: stop_sequence ?? null };
  return [writeEvent({ type: 'message_start', message }), ...blocks, writeEvent({ type: 'message_delta', delta, usage }), STOP].join('');
}

/** Anthropic's whole answer, unchanged; assembled if it was streamed although not requested. Throws `ProviderError`. */
export async function passWholeMessage({ provider, forwarded, record }: MessagePassing, head: MessageHead): Promise<string> {
  const assembler = new AnthropicAssembler(provider);
  const builder = new MessageBuilder();
  let done = false;
  let size = 0;
  for await (const { items } of forwarded.batches) {
    for (const item of items) {
      if (item.kind === 'whole') {
        const watch = new MessageWatch();
        if (!watch.seeWhole(item.text)) throw readFault(provider, item.text);
        record(watch.usage, watch.chars);
        return item.text;
      }
      size += item.data.length;
      if (size > MAX_UNSEEN) throw new ProviderError(`${provider} sent a response that is too large.`);
      for (const event of assembler.add(item.data)) builder.add(event);
      done ||= isEnd(item.data);
    }
    if (done) break;
  }
  if (!done && !assembler.finished) throw brokeOff(provider);
  for (const event of assembler.end()) builder.add(event);
  const { usage } = builder;
  record(usage, builder.written.length);
  return JSON.stringify(builder.message(head, usage ?? { inputTokens: 0, outputTokens: 0, totalTokens: 0 }));
}
