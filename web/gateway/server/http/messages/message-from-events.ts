import type { Usage } from '#shared/rpc/record-schemas.ts';
import type { Clock } from '#shared/async/clock.ts';
import { estimateUsage } from '../../../providers/estimate-usage.ts';
import type { ModelEvent, ModelMessage } from '../../../providers/provider.ts';
import type { WebSearchEvent } from '../search/hosted-web-search.ts';
import { MessageBuilder, type MessageHead, MessageWriter, PING_EVENT } from './message-writer.ts';

/** An answer created from model events. */
export interface MessageSource {
  events: AsyncIterable<ModelEvent | WebSearchEvent>;
  head: MessageHead;
  /** The conversation, for an estimate of the usage if none is reported. */
  messages: readonly ModelMessage[];
  /** Called once with the usage, at the end. */
  record(usage: Usage): void;
}

/** Interval of pings in a silent stream, so that no proxy closes it. */
const PING_MS = 15_000;

const getUsage = (builder: MessageBuilder, { messages, head }: MessageSource): Usage =>
  builder.usage ?? estimateUsage(messages, builder.allText, head.model);

/** The whole answer as one object. */
export async function buildMessage(source: MessageSource): Promise<Record<string, unknown>> {
  const builder = new MessageBuilder();
  let hasBegun = false;
  try {
    for await (const event of source.events) {
      hasBegun ||= event.type !== 'calling';
      builder.add(event);
    }
  } finally {
    if (hasBegun) source.record(getUsage(builder, source));
  }
  return builder.toMessage(source.head, getUsage(builder, source));
}

/**
 * The answer as server-sent events. Throws only before the first of them; a later failure is an `error` event, unless the client has
 * disconnected.
 */
export async function* streamMessage(
  source: MessageSource,
  { signal, told: writeError, clock }: { signal: AbortSignal; told(error: unknown): string; clock: Pick<Clock, 'after'> },
): AsyncGenerator<string> {
  const builder = new MessageBuilder();
  const writer = new MessageWriter(source.head);
  let hasBegun = false;
  let isRecorded = false;
  const recordUsage = (): Usage => {
    const usage = getUsage(builder, source);
    if (!isRecorded) source.record(usage);
    isRecorded = true;
    return usage;
  };
  const start = (): string => {
    if (hasBegun) return '';
    hasBegun = true;
    return writer.start(estimateUsage(source.messages, '', source.head.model));
  };
  try {
    for await (const event of withPings(source.events, clock)) {
      if (event === undefined) {
        // Before the first event, a failure can still have its own status.
        if (hasBegun) yield PING_EVENT;
        continue;
      }
      builder.add(event);
      const chunk = writer.write(event);
      if (chunk !== '') yield start() + chunk;
    }
    yield start() + writer.end(builder.stop(), builder.toUsage(recordUsage()));
  } catch (error) {
    if (!hasBegun || signal.aborted) throw error;
    recordUsage();
    yield writeError(error);
  } finally {
    if (hasBegun) recordUsage();
  }
}

/** The events, and undefined each time none has arrived for a while. */
async function* withPings<T>(events: AsyncIterable<T>, clock: Pick<Clock, 'after'>): AsyncGenerator<T | undefined> {
  const iterator = events[Symbol.asyncIterator]();
  let next = iterator.next();
  try {
    for (;;) {
      const silence = Promise.withResolvers<undefined>();
      const cancel = clock.after(PING_MS, () => silence.resolve(undefined));
      const result = await Promise.race([next, silence.promise]).finally(cancel);
      if (result?.done) return;
      yield result?.value;
      if (result) next = iterator.next();
    }
  } finally {
    next.catch(() => {});
    void Promise.resolve(iterator.return?.()).catch(() => {});
  }
}
