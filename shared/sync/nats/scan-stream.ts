import type { StreamInfo } from '@nats-io/jetstream';
import { fetchNext, type RawMessage } from './stream-messages.ts';
import { isSingleReplica, type VaultStreams } from './vault-streams.ts';
import { abortableDelay } from './presence.ts';

/** Number of messages per batch. */
const BATCH_MESSAGES = 200;
/** Maximum number of concurrent reads. */
const MAX_CONCURRENT_READS = 8;
/** Time after which servers that were partitioned have the same messages again. */
const CONVERGENCE_MS = 20_000;

type ScannableStream = Pick<VaultStreams, 'jsm' | 'stream' | 'prefix'>;
type BatchHandler = (batch: readonly RawMessage[]) => Promise<void>;

/**
 * After a failure: reads the whole stream at once, and again when its servers, if there are several, had time to converge. Rejects if the
 * stream does not arrive; resolves early if `signal` aborts.
 */
export async function rescanStream(
  source: ScannableStream & Pick<VaultStreams, 'info'>,
  { signal, agreedMs = CONVERGENCE_MS }: { signal: AbortSignal; agreedMs?: number | undefined },
  onBatch: BatchHandler,
): Promise<void> {
  for (const ms of isSingleReplica(source) ? [0] : [0, agreedMs]) {
    await abortableDelay(ms, signal);
    if (signal.aborted) return;
    await scanStream(source, signal, onBatch);
  }
}

/** Server that leads the stream; with a single server its id, which is new at each start. Empty if none leads now. */
export const getLeaderName = (source: Pick<VaultStreams, 'info' | 'nc'>, { cluster }: Pick<StreamInfo, 'cluster'> = source.info): string =>
  (isSingleReplica(source) ? source.nc.info?.server_id : cluster?.leader) ?? '';

/**
 * Passes the whole stream to `onBatch` in batches, in no order. Servers of a cluster (2.9) that were partitioned may number messages
 * differently, or miss some for ever: so everything comes from the leader, whose state counts.
 */
export async function scanStream(source: ScannableStream, signal: AbortSignal, onBatch: BatchHandler): Promise<void> {
  const { jsm, stream, prefix } = source;
  // The newest number that the stream has given may be that of a message which was taken out.
  const last = await jsm.streams.getMessage(stream, { last_by_subj: `${prefix}>` });
  if (!last) return;
  let batch: RawMessage[] = [];
  let handled = Promise.resolve();
  const flush = (): Promise<void> => {
    const full = batch;
    batch = [];
    return (handled = handled.then(() => onBatch(full)));
  };
  const width = Math.ceil(last.seq / MAX_CONCURRENT_READS);
  const walk = async (from: number): Promise<void> => {
    const end = Math.min(from + width - 1, last.seq);
    for (let next = from; next <= end && !signal.aborted;) {
      const message = await fetchNext(source, next);
      if (!message || message.seq > end || signal.aborted) return;
      next = message.seq + 1;
      batch.push(message);
      if (batch.length >= BATCH_MESSAGES) await flush();
    }
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT_READS }, (_, lane) => walk(lane * width + 1)));
  if (batch.length > 0 && !signal.aborted) await flush();
}
