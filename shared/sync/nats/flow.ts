import { type ConsumerMessages, DeliverPolicy, type StoredMsg } from '@nats-io/jetstream';
import { isAlone, type Places } from './places.ts';

/**
 * After this time without messages, the stream's leader is asked whether there are more; and again after the shorter one while there were
 * some that the sending server had not delivered.
 */
export const SILENT_MS = 15_000;
export const SILENT_AGAIN_MS = 3_000;
/** So many are fetched before the server that sends gets another chance. */
const FETCHED = 200;
/** Maximum number of gaps examined when reading begins: an old stream has as many as messages. */
const GAPS = 100;

/** A message, as a consumer gives it or the stream itself. */
export type Streamed = Pick<StoredMsg, 'subject' | 'seq' | 'data'>;
export type Stream = Pick<Places, 'js' | 'jsm' | 'stream' | 'prefix' | 'info'>;

export interface Reading {
  /** So many may wait to be taken. */
  ahead: number;
  /** The newest number that the stream had given when reading began. */
  there: number;
  /** More may have been passed over than was looked into. */
  onunsure(): void;
  signal: AbortSignal;
  /** Runs `callback` after `ms`; the result cancels it. Tests pass a clock of their own. */
  after?(ms: number, callback: () => void): () => void;
}

function afterTimeout(ms: number, callback: () => void): () => void {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
}

/** The first message at or after `seq`, from the stream's leader; null if there is none. */
export function fetchNext({ jsm, stream, prefix }: Pick<Stream, 'jsm' | 'stream' | 'prefix'>, seq: number): Promise<Streamed | null> {
  const next = { seq, next_by_subj: `${prefix}>` };
  return jsm.streams.getMessage(stream, next);
}

/**
 * Yields the stream's messages from a sequence number on until `signal` aborts; resolves when a server sends. Messages that it does not
 * send are fetched from the leader: a server may forget its consumer, a client may fail to request more, and a killed server (2.9) may
 * never receive what the others have. If numbers were skipped, the leader is asked whether they are superseded or missing only there.
 */
export async function messagesFrom(places: Stream, first: number, reading: Reading): Promise<AsyncIterable<Streamed>> {
  return following(places, first, await consume(places, first, reading), reading);
}

async function* following(places: Stream, first: number, opened: ConsumerMessages, reading: Reading): AsyncGenerator<Streamed> {
  const { signal, after = afterTimeout } = reading;
  const looksInto = gapChoice(places, reading);
  let next = first;
  let messages = opened;
  let silentMs = SILENT_MS;
  for (;;) {
    const iterator = messages[Symbol.asyncIterator]();
    let fetched: Streamed | null = null;
    for (let coming = iterator.next(); !fetched;) {
      const came = await within(coming, silentMs, after);
      if (signal.aborted || came?.done) return;
      if (!came) fetched = await fetchNext(places, next);
      else {
        const { value: message } = came;
        if (message.seq > next && looksInto(message.seq)) yield* missing(places, next, message.seq, signal);
        if (signal.aborted) return;
        next = message.seq + 1;
        silentMs = SILENT_MS;
        yield message;
        coming = iterator.next();
      }
    }
    void messages.close().catch(() => {});
    for (let count = 0; fetched && count < FETCHED; count++) {
      if (signal.aborted) return;
      next = fetched.seq + 1;
      yield fetched;
      fetched = await fetchNext(places, next);
    }
    if (signal.aborted) return;
    messages = await consume(places, next, reading);
    silentMs = SILENT_AGAIN_MS;
  }
}

/** Whether the numbers left out before one are asked for. */
function gapChoice(places: Stream, { there, onunsure }: Reading): (end: number) => boolean {
  if (isAlone(places)) return () => false;
  let gaps = 0;
  return (end) => {
    if (end > there || ++gaps <= GAPS) return true;
    if (gaps === GAPS + 1) onunsure();
    return false;
  };
}

/** Messages of the leading server from one number to before another. */
async function* missing(places: Stream, from: number, end: number, signal: AbortSignal): AsyncGenerator<Streamed> {
  for (let next = from; !signal.aborted;) {
    const message = await fetchNext(places, next);
    if (!message || message.seq >= end) return;
    next = message.seq + 1;
    yield message;
  }
}

async function consume(
  { js, stream, prefix }: Stream,
  first: number,
  { ahead, signal }: Pick<Reading, 'ahead' | 'signal'>,
): Promise<ConsumerMessages> {
  const consumer = await js.consumers.get(stream, {
    filter_subjects: `${prefix}>`,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: first,
  });
  const messages = await consumer.consume({ max_messages: ahead });
  const stop = (): void => void messages.close().catch(() => {});
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  return messages;
}

/** Resolves with the result, or with undefined if there is none after `ms`. */
async function within<T>(coming: Promise<T>, ms: number, after: NonNullable<Reading['after']>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const cancel = after(ms, () => late.resolve(undefined));
  try {
    return await Promise.race([coming, late.promise]);
  } finally {
    cancel();
  }
}

/** Whether the stream has something behind `read`. Its last messages may have been taken away, so it is asked. */
export const hasMore = async (places: Pick<Stream, 'jsm' | 'stream' | 'prefix'>, read: number): Promise<boolean> =>
  (await fetchNext(places, read + 1)) !== null;
