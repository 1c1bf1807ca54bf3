import { brokeOff } from '../providers/chunk.ts';
import type { Forwarded } from '../providers/forwarding.ts';
import type { BodyItem } from '../providers/upstream-body.ts';

/** How the events of one API are passed on. */
export interface EventFormat {
  /** The answer is complete but for a trailer. */
  isWhole(): boolean;
  /** Text for the caller, and whether the answer ends with this item. `isLast`: the upstream's body ends with its batch. Throws what is wrong with it. */
  read(item: BodyItem, isLast: boolean): { text: string; isEnd: boolean };
  /** What closes a complete answer. `hasEnded`: an item ended it. */
  close(hasEnded: boolean): string;
  /** What closes an answer that failed. */
  fail(fault: unknown): string;
  /** Records usage. Called once, if the caller was sent anything. */
  count(): void;
}

/**
 * An upstream's events as they are, one batch per network chunk. Throws only before the first; a later failure is an event. Ends exactly once, unless
 * `signal` says that the caller has left.
 */
export async function* passEvents(
  { provider, forwarded, signal }: { provider: string; forwarded: Forwarded; signal: AbortSignal },
  format: EventFormat,
): AsyncGenerator<string> {
  let [begun, counted, ended] = [false, false, false];
  let out = '';
  const count = (): void => {
    if (!counted) format.count();
    counted = true;
  };
  try {
    for await (const { items, last } of forwarded.batches) {
      for (const item of items) {
        const before = format.isWhole();
        const { text, isEnd } = format.read(item, last);
        out += text;
        ended = isEnd;
        if (ended) break;
        if (format.isWhole() && !before) forwarded.trailer();
      }
      if (ended) break;
      if (out === '') continue;
      begun = true;
      yield out;
      out = '';
    }
    if (!ended && !format.isWhole()) throw brokeOff(provider);
    count();
    yield out + format.close(ended);
  } catch (error) {
    if (signal.aborted) throw error;
    // After the stop reason nothing that matters can be missing.
    const fault = format.isWhole() ? undefined : forwarded.told(error);
    if (fault !== undefined && !begun && out === '') throw fault;
    begun = true;
    count();
    yield out + (fault === undefined ? format.close(false) : format.fail(fault));
  } finally {
    // A caller who has left was sent it.
    if (begun) count();
  }
}
