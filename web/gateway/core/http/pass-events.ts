import { brokeOff } from '../providers/chunk.ts';
import type { Forwarded } from '../providers/forwarding.ts';
import type { BodyItem } from '../providers/upstream-body.ts';

/** How to forward the events of one API. */
export interface EventFormat {
  /** Whether the answer is complete except for a trailer. */
  isWhole(): boolean;
  /**
   * Text for the client, and whether the answer ends with this item. `isLast`: the upstream's body ends with its batch. Throws if the item
   * is invalid or reports an error.
   */
  read(item: BodyItem, isLast: boolean): { text: string; isEnd: boolean };
  /** Text that ends a complete answer. `hasEnded`: an item has already ended it. */
  close(hasEnded: boolean): string;
  /** Text that ends a failed answer. */
  fail(fault: unknown): string;
  /** Records usage. Called once if the client was sent anything. */
  count(): void;
}

/**
 * Forwards an upstream's events unchanged, one batch per network chunk. Throws only before the first; a later failure is an event. Ends
 * exactly once, unless `signal` is aborted.
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
    // After the stop reason, nothing important can be missing.
    const fault = format.isWhole() ? undefined : forwarded.told(error);
    if (fault !== undefined && !begun && out === '') throw fault;
    begun = true;
    count();
    yield out + (fault === undefined ? format.close(false) : format.fail(fault));
  } finally {
    // Also counts for a client that disconnected.
    if (begun) count();
  }
}
