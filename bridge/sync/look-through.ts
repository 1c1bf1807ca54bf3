import { DeliverPolicy, type JsMsg } from '@nats-io/jetstream';
import type { Places } from '#shared/sync/nats/places.ts';
import { ClusterProblem } from '#shared/sync/nats/problems.ts';

/** Messages that are taken together. */
export const PAGE = 200;
/** A stream that has had something for so long, of which nothing comes, is asked for anew. */
export const STALL_MS = 15_000;

export const stalled = (): ClusterProblem => new ClusterProblem('unreachable', 'The stream has more, but does not send it to this bridge');

/**
 * Gives all that the stream has to `take`, some at a time. Servers of a cluster (2.9) that lost one another may number messages differently, so that what was read
 * at one of them does not say what the next one still has. Rejects where the stream does not come.
 */
export async function lookThrough(
  { cluster, signal }: { cluster: Pick<Places, 'js' | 'jsm' | 'stream' | 'prefix'>; signal: AbortSignal },
  take: (batch: readonly JsMsg[]) => Promise<void>,
): Promise<void> {
  const { last_seq: last, messages: count } = (await cluster.jsm.streams.info(cluster.stream)).state;
  if (count === 0 || signal.aborted) return;
  const consumer = await cluster.js.consumers.get(cluster.stream, {
    filter_subjects: `${cluster.prefix}>`,
    deliver_policy: DeliverPolicy.All,
  });
  const messages = await consumer.consume({ max_messages: 2 * PAGE });
  const stop = (): void => void messages.close().catch(() => {});
  signal.addEventListener('abort', stop, { once: true });
  const late = Promise.withResolvers<never>();
  late.promise.catch(() => {});
  const timer = setTimeout(() => late.reject(stalled()), STALL_MS);
  const reading = async (): Promise<void> => {
    let batch: JsMsg[] = [];
    for await (const message of messages) {
      if (signal.aborted) return;
      timer.refresh();
      batch.push(message);
      const isLast = message.seq >= last;
      if (batch.length < PAGE && !isLast) continue;
      const full = batch;
      batch = [];
      await take(full);
      if (isLast) return;
    }
  };
  try {
    await Promise.race([reading(), late.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    stop();
  }
}
