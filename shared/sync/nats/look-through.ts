import type { JsMsg, StreamInfo } from '@nats-io/jetstream';
import { messagesFrom, STALL_MS, stalled } from './flow.ts';
import type { Places } from './places.ts';
import { pause } from './presence.ts';

/** Messages that are taken together. */
const PAGE = 200;
/** Servers that have found each other again have the same by then. */
const AGREED_MS = 20_000;

type Streamed = Pick<Places, 'js' | 'jsm' | 'stream' | 'prefix'>;
type Take = (batch: readonly JsMsg[]) => Promise<void>;

/**
 * After trouble: looks through the stream at once, and again when its servers, where there are several, had time to agree with each other. Rejects where the stream
 * does not come; resolves early where `signal` is aborted.
 */
export async function lookAgain(
  places: Streamed & Pick<Places, 'info'>,
  { signal, agreedMs = AGREED_MS }: { signal: AbortSignal; agreedMs?: number | undefined },
  take: Take,
): Promise<void> {
  for (const ms of isAlone(places) ? [0] : [0, agreedMs]) {
    await pause(ms, signal);
    if (signal.aborted) return;
    await lookThrough(places, signal, take);
  }
}

/** Whether one server has the stream: nobody it could disagree with. */
export const isAlone = ({ info }: Pick<Places, 'info'>): boolean => info.config.num_replicas === 1;

/** Which server leads the stream; where only one has it, its id, which each of its starts makes anew. Empty where none leads now. */
export const leaderOf = (places: Pick<Places, 'info' | 'nc'>, { cluster }: Pick<StreamInfo, 'cluster'> = places.info): string =>
  (isAlone(places) ? places.nc.info?.server_id : cluster?.leader) ?? '';

/**
 * Gives all that the stream has to `take`, some at a time. Servers of a cluster (2.9) that lost one another may number messages differently, so that what was read
 * at one of them does not say what the next one still has. Rejects where the stream does not come.
 */
export async function lookThrough(places: Streamed, signal: AbortSignal, take: Take): Promise<void> {
  const { jsm, stream, prefix } = places;
  // The newest number that the stream has given may be that of a message which was taken out.
  const last = await jsm.streams.getMessage(stream, { last_by_subj: `${prefix}>` });
  if (!last || signal.aborted) return;
  const end = new AbortController();
  const messages = await messagesFrom(places, 1, { ahead: 2 * PAGE, signal: AbortSignal.any([signal, end.signal]) });
  const late = Promise.withResolvers<never>();
  late.promise.catch(() => {});
  const wait = (): ReturnType<typeof setTimeout> => setTimeout(() => late.reject(stalled()), STALL_MS);
  let timer = wait();
  const reading = async (): Promise<void> => {
    let batch: JsMsg[] = [];
    for await (const message of messages) {
      if (signal.aborted) return;
      clearTimeout(timer);
      timer = wait();
      batch.push(message);
      const isLast = message.seq >= last.seq;
      if (batch.length < PAGE && !isLast) continue;
      await take(batch);
      if (isLast) return;
      batch = [];
    }
    if (!signal.aborted) throw stalled();
  };
  try {
    await Promise.race([reading(), late.promise]);
  } finally {
    clearTimeout(timer);
    end.abort();
  }
}
