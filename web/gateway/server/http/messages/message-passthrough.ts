import { MessageTracker } from '#shared/http/message-tracker.ts';
import { writeEvent } from '#shared/http/messages-api.ts';
import { parseJson } from '#shared/parse-json.ts';
import type { Usage } from '#shared/rpc/record-schemas.ts';
import { AnthropicAssembler } from '../../../providers/anthropic-assembler.ts';
import { MAX_HIDDEN_CHARS } from '../../../providers/assembler.ts';
import { createInterruptedError } from '../../../providers/chunk.ts';
import type { ForwardedResponse } from '../../../providers/forwarding-provider.ts';
import { isMessageEnd, readMessagesFault } from '../../../providers/messages-forwarding.ts';
import { ProviderError } from '../../../providers/provider.ts';
import { forwardEvents } from '../forward-events.ts';
import { MessageBuilder, type MessageHead } from './message-writer.ts';

interface MessagePassthrough {
  /** The provider's display name, for errors. */
  provider: string;
  forwarded: ForwardedResponse;
  /** Called at the end with the upstream's usage, or undefined if it reported none, and with the number of generated characters. */
  record(usage: Usage | undefined, chars: number): void;
}

/** Anthropic's own events, unchanged. The last one is `message_stop` or `error`. */
export function forwardMessageStream(
  { provider, forwarded, record }: MessagePassthrough,
  { signal, told: writeError }: { signal: AbortSignal; told(error: unknown): string },
): AsyncGenerator<string> {
  const watch = new MessageTracker();
  return forwardEvents(
    { provider, forwarded, signal },
    {
      isWhole: () => watch.isComplete,
      read(item, isLast) {
        if (item.kind === 'whole') return { text: toEvents(provider, item.text, watch), isEnd: true };
        const result = watch.add(item.data);
        // An incomplete event at the very end means a truncated stream.
        if (result === 'odd')
          throw isLast && !isJson(item.data) ? createInterruptedError(provider) : readMessagesFault(provider, item.data);
        return { text: `event: ${readType(item.data)}\ndata: ${item.data}\n\n`, isEnd: result === 'last' };
      },
      close: (hasEnded) => (hasEnded ? '' : STOP_EVENT),
      fail: writeError,
      count: () => record(watch.usage, watch.chars),
    },
  );
}

const STOP_EVENT = writeEvent({ type: 'message_stop' });

const isJson = (data: string): boolean => {
  try {
    parseJson(data);
    return true;
  } catch {
    return false;
  }
};

const readType = (data: string): string => (JSON.parse(data) as { type: string }).type;

/** Converts a whole message, sent although a stream was requested, to events. */
function toEvents(provider: string, text: string, watch: MessageTracker): string {
  if (!watch.addMessage(text)) throw readMessagesFault(provider, text);
  const { content, stop_reason, stop_sequence, usage, ...head } = parseJson(text) as Record<string, unknown> & { content: unknown[] };
  const blocks = content.flatMap((content_block, index) => [
    writeEvent({ type: 'content_block_start', index, content_block }),
    writeEvent({ type: 'content_block_stop', index }),
  ]);
  const message = { ...head, content: [], stop_reason: null, stop_sequence: null, usage };
  const delta = { stop_reason, stop_sequence: stop_sequence ?? null };
  return [writeEvent({ type: 'message_start', message }), ...blocks, writeEvent({ type: 'message_delta', delta, usage }), STOP_EVENT].join(
    '',
  );
}

/** Anthropic's whole answer, unchanged; assembled if it was streamed although not requested. Throws `ProviderError`. */
export async function forwardBufferedMessage({ provider, forwarded, record }: MessagePassthrough, head: MessageHead): Promise<string> {
  const assembler = new AnthropicAssembler(provider);
  const builder = new MessageBuilder();
  let isComplete = false;
  let charCount = 0;
  for await (const { items } of forwarded.batches) {
    for (const item of items) {
      if (item.kind === 'whole') {
        const watch = new MessageTracker();
        if (!watch.addMessage(item.text)) throw readMessagesFault(provider, item.text);
        record(watch.usage, watch.chars);
        return item.text;
      }
      charCount += item.data.length;
      if (charCount > MAX_HIDDEN_CHARS) throw new ProviderError(`${provider} sent a response that is too large.`);
      for (const event of assembler.add(item.data)) builder.add(event);
      isComplete ||= isMessageEnd(item.data);
    }
    if (isComplete) break;
  }
  if (!isComplete && !assembler.isFinished) throw createInterruptedError(provider);
  for (const event of assembler.end()) builder.add(event);
  const { usage } = builder;
  record(usage, builder.allText.length);
  return JSON.stringify(builder.toMessage(head, usage ?? { inputTokens: 0, outputTokens: 0, totalTokens: 0 }));
}
