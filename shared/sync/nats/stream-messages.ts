import { type ConsumerMessages, DeliverPolicy, type StoredMsg } from '@nats-io/jetstream';
import { isSingleReplica, type VaultStreams } from './vault-streams.ts';

/**
 * After this time without messages, the stream's leader is asked whether there are more; and again after the shorter one while there were
 * some that the sending server had not delivered.
 */
export const SILENCE_MS = 15_000;
export const REPEATED_SILENCE_MS = 3_000;
/** Number of messages to fetch before waiting for the server again. */
const MAX_FETCHED = 200;
/** Maximum number of gaps examined when reading begins: an old stream has as many as messages. */
const MAX_GAPS = 100;

/** A message, as a consumer gives it or the stream itself. */
export type RawMessage = Pick<StoredMsg, 'subject' | 'seq' | 'data'>;
export type RecordStream = Pick<VaultStreams, 'js' | 'jsm' | 'stream' | 'prefix' | 'info'>;

export interface ReadOptions {
  /** Maximum number of messages buffered for the reader. */
  ahead: number;
  /** Last sequence number of the stream when reading began. */
  lastSeq: number;
  /** Called if messages may have been skipped. */
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
export function fetchNext(
  { jsm, stream, prefix }: Pick<RecordStream, 'jsm' | 'stream' | 'prefix'>,
  seq: number,
): Promise<RawMessage | null> {
  const next = { seq, next_by_subj: `${prefix}>` };
  return jsm.streams.getMessage(stream, next);
}

/**
 * Yields the stream's messages from a sequence number on until `signal` aborts; resolves when a server sends. Messages that it does not
 * send are fetched from the leader: a server may forget its consumer, a client may fail to request more, and a killed server (2.9) may
 * never receive what the others have. If numbers were skipped, the leader is asked whether they are superseded or missing only there.
 */
export async function readMessages(source: RecordStream, first: number, options: ReadOptions): Promise<AsyncIterable<RawMessage>> {
  return followStream(source, first, await consume(source, first, options), options);
}

async function* followStream(
  source: RecordStream,
  first: number,
  opened: ConsumerMessages,
  options: ReadOptions,
): AsyncGenerator<RawMessage> {
  const { signal, after = afterTimeout } = options;
  const shouldFetchGap = createGapPolicy(source, options);
  let next = first;
  let messages = opened;
  let silentMs = SILENCE_MS;
  for (;;) {
    const iterator = messages[Symbol.asyncIterator]();
    let fetched: RawMessage | null = null;
    for (let pending = iterator.next(); !fetched;) {
      const result = await withTimeout(pending, silentMs, after);
      if (signal.aborted || result?.done) return;
      if (!result) fetched = await fetchNext(source, next);
      else {
        const { value: message } = result;
        if (message.seq > next && shouldFetchGap(message.seq)) yield* fetchGap(source, next, message.seq, signal);
        if (signal.aborted) return;
        next = message.seq + 1;
        silentMs = SILENCE_MS;
        yield message;
        pending = iterator.next();
      }
    }
    void messages.close().catch(() => {});
    for (let count = 0; fetched && count < MAX_FETCHED; count++) {
      if (signal.aborted) return;
      next = fetched.seq + 1;
      yield fetched;
      fetched = await fetchNext(source, next);
    }
    if (signal.aborted) return;
    messages = await consume(source, next, options);
    silentMs = REPEATED_SILENCE_MS;
  }
}

/** Returns whether to fetch the messages in a gap before a number. */
function createGapPolicy(source: RecordStream, { lastSeq, onunsure }: ReadOptions): (end: number) => boolean {
  if (isSingleReplica(source)) return () => false;
  let gaps = 0;
  return (end) => {
    if (end > lastSeq || ++gaps <= MAX_GAPS) return true;
    if (gaps === MAX_GAPS + 1) onunsure();
    return false;
  };
}

/** Yields the leader’s messages from one number to before another. */
async function* fetchGap(source: RecordStream, from: number, end: number, signal: AbortSignal): AsyncGenerator<RawMessage> {
  for (let next = from; !signal.aborted;) {
    const message = await fetchNext(source, next);
    if (!message || message.seq >= end) return;
    next = message.seq + 1;
    yield message;
  }
}

async function consume(
  { js, stream, prefix }: RecordStream,
  first: number,
  { ahead, signal }: Pick<ReadOptions, 'ahead' | 'signal'>,
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
async function withTimeout<T>(promise: Promise<T>, ms: number, after: NonNullable<ReadOptions['after']>): Promise<T | undefined> {
  const timeout = Promise.withResolvers<undefined>();
  const cancel = after(ms, () => timeout.resolve(undefined));
  try {
    return await Promise.race([promise, timeout.promise]);
  } finally {
    cancel();
  }
}

/** Whether the stream has something behind `lastRead`. Its last messages may have been taken away, so it is asked. */
export const hasMore = async (source: Pick<RecordStream, 'jsm' | 'stream' | 'prefix'>, lastRead: number): Promise<boolean> =>
  (await fetchNext(source, lastRead + 1)) !== null;
