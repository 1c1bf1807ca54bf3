import { DeliverPolicy, type JsMsg } from '@nats-io/jetstream';
import type { Places } from './places.ts';
import { ClusterProblem } from './problems.ts';

/** A stream that has had something for so long, of which nothing comes, is asked for anew. */
export const STALL_MS = 15_000;

export const stalled = (): ClusterProblem => new ClusterProblem('unreachable', 'The stream has more, but does not send it here');

/** The stream's messages from a sequence number on, as they come, until `signal` is aborted. `ahead`: so many may wait to be taken. */
export async function messagesFrom(
  { js, stream, prefix }: Pick<Places, 'js' | 'stream' | 'prefix'>,
  first: number,
  { ahead, signal }: { ahead: number; signal: AbortSignal },
): Promise<AsyncIterable<JsMsg>> {
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

/** Whether the stream has something behind `read`. Its last messages may have been taken away, so it is asked. */
export async function hasMore({ jsm, stream, prefix }: Pick<Places, 'jsm' | 'stream' | 'prefix'>, read: number): Promise<boolean> {
  const next = { seq: read + 1, next_by_subj: `${prefix}>` };
  return (await jsm.streams.getMessage(stream, next)) !== null;
}

/** Whether what a stream has also comes: a server may forget whom it was to send to, and a client to ask again. */
export class Flow {
  #behind: { read: number; since: number } | undefined;

  /** Rejects where the stream goes on past what was read, and nothing comes for a while. `last`: its newest sequence number. */
  async check(places: Pick<Places, 'jsm' | 'stream' | 'prefix'>, read: number, last: number): Promise<void> {
    if (read >= last) {
      this.#behind = undefined;
      return;
    }
    if (this.#behind?.read !== read) this.#behind = { read, since: performance.now() };
    if (performance.now() - this.#behind.since >= STALL_MS && (await hasMore(places, read))) throw stalled();
  }
}
