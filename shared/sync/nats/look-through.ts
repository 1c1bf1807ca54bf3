import type { StreamInfo } from '@nats-io/jetstream';
import { fetchNext, type Streamed } from './flow.ts';
import { isAlone, type Places } from './places.ts';
import { pause } from './presence.ts';

/** Messages that are taken together. */
const PAGE = 200;
/** So many are asked for at once. */
const LANES = 8;
/** Servers that have found each other again have the same by then. */
const AGREED_MS = 20_000;

type Streaming = Pick<Places, 'jsm' | 'stream' | 'prefix'>;
type Take = (batch: readonly Streamed[]) => Promise<void>;

/**
 * After a failure: reads the whole stream at once, and again when its servers, if there are several, had time to converge. Rejects if the
 * stream does not arrive; resolves early if `signal` aborts.
 */
export async function lookAgain(
  places: Streaming & Pick<Places, 'info'>,
  { signal, agreedMs = AGREED_MS }: { signal: AbortSignal; agreedMs?: number | undefined },
  take: Take,
): Promise<void> {
  for (const ms of isAlone(places) ? [0] : [0, agreedMs]) {
    await pause(ms, signal);
    if (signal.aborted) return;
    await lookThrough(places, signal, take);
  }
}

/** Server that leads the stream; with a single server its id, which is new at each start. Empty if none leads now. */
export const leaderOf = (places: Pick<Places, 'info' | 'nc'>, { cluster }: Pick<StreamInfo, 'cluster'> = places.info): string =>
  (isAlone(places) ? places.nc.info?.server_id : cluster?.leader) ?? '';

/**
 * Passes the whole stream to `take` in batches, in no order. Servers of a cluster (2.9) that were partitioned may number messages
 * differently, or miss some for ever: so everything comes from the leader, whose state counts.
 */
export async function lookThrough(places: Streaming, signal: AbortSignal, take: Take): Promise<void> {
  const { jsm, stream, prefix } = places;
  // The newest number that the stream has given may be that of a message which was taken out.
  const last = await jsm.streams.getMessage(stream, { last_by_subj: `${prefix}>` });
  if (!last) return;
  let batch: Streamed[] = [];
  let taken = Promise.resolve();
  const flush = (): Promise<void> => {
    const full = batch;
    batch = [];
    return (taken = taken.then(() => take(full)));
  };
  const width = Math.ceil(last.seq / LANES);
  const walk = async (from: number): Promise<void> => {
    const end = Math.min(from + width - 1, last.seq);
    for (let next = from; next <= end && !signal.aborted;) {
      const message = await fetchNext(places, next);
      if (!message || message.seq > end || signal.aborted) return;
      next = message.seq + 1;
      batch.push(message);
      if (batch.length >= PAGE) await flush();
    }
  };
  await Promise.all(Array.from({ length: LANES }, (_, lane) => walk(lane * width + 1)));
  if (batch.length > 0 && !signal.aborted) await flush();
}
