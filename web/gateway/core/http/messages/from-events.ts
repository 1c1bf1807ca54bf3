import type { Usage } from '#shared/rpc/records.ts';
import type { Clock } from '../../clock.ts';
import { estimateUsage } from '../../providers/estimate.ts';
import type { ModelEvent, ModelMessage } from '../../providers/provider.ts';
import { MessageBuilder, type MessageHead, MessageWriter, PING } from './output.ts';

/** An answer created from model events. */
export interface MessageSource {
  events: AsyncIterable<ModelEvent>;
  head: MessageHead;
  /** The conversation, for an estimate of the usage if none is reported. */
  messages: readonly ModelMessage[];
  /** Called once with the usage, at the end. */
  record(usage: Usage): void;
}

/** Interval of pings in a silent stream, so that no proxy closes it. */
const PING_MS = 15_000;

const usageFor = (builder: MessageBuilder, { messages, head }: MessageSource): Usage =>
  builder.usage ?? estimateUsage(messages, builder.written, head.model);

/** The whole answer as one object. */
export async function wholeMessage(source: MessageSource): Promise<Record<string, unknown>> {
  const builder = new MessageBuilder();
  let begun = false;
  try {
    for await (const event of source.events) {
      begun ||= event.type !== 'calling';
      builder.add(event);
    }
  } finally {
    if (begun) source.record(usageFor(builder, source));
  }
  return builder.message(source.head, usageFor(builder, source));
}

/**
 * The answer as server-sent events. Throws only before the first of them; a later failure is an `error` event, unless the client has
 * disconnected.
 */
export async function* streamMessage(
  source: MessageSource,
  { signal, told, clock }: { signal: AbortSignal; told(error: unknown): string; clock: Pick<Clock, 'after'> },
): AsyncGenerator<string> {
  const builder = new MessageBuilder();
  const writer = new MessageWriter(source.head);
  let begun = false;
  let counted = false;
  const count = (): Usage => {
    const usage = usageFor(builder, source);
    if (!counted) source.record(usage);
    counted = true;
    return usage;
  };
  const start = (): string => {
    if (begun) return '';
    begun = true;
    return writer.start(estimateUsage(source.messages, '', source.head.model));
  };
  try {
    for await (const event of withPings(source.events, clock)) {
      if (event === undefined) {
        // Before the first event, a failure can still have its own status.
        if (begun) yield PING;
        continue;
      }
      builder.add(event);
      const out = writer.write(event);
      if (out !== '') yield start() + out;
    }
    yield start() + writer.end(builder.stop(), count());
  } catch (error) {
    if (!begun || signal.aborted) throw error;
    count();
    yield told(error);
  } finally {
    if (begun) count();
  }
}

/** The events, and undefined each time none has arrived for a while. */
async function* withPings(events: AsyncIterable<ModelEvent>, clock: Pick<Clock, 'after'>): AsyncGenerator<ModelEvent | undefined> {
  const iterator = events[Symbol.asyncIterator]();
  let next = iterator.next();
  try {
    for (;;) {
      const quiet = Promise.withResolvers<undefined>();
      const cancel = clock.after(PING_MS, () => quiet.resolve(undefined));
      const result = await Promise.race([next, quiet.promise]).finally(cancel);
      if (result?.done) return;
      yield result?.value;
      if (result) next = iterator.next();
    }
  } finally {
    next.catch(() => {});
    void Promise.resolve(iterator.return?.()).catch(() => {});
  }
}
