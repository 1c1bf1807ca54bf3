import { createInterruptedError } from '../../providers/chunk.ts';
import type { ForwardedResponse } from '../../providers/forwarding-provider.ts';
import type { BodyItem } from '../../providers/upstream-body.ts';

/** How to forward the events of one API. */
interface EventFormat {
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
export async function* forwardEvents(
  { provider, forwarded, signal }: { provider: string; forwarded: ForwardedResponse; signal: AbortSignal },
  format: EventFormat,
): AsyncGenerator<string> {
  let [hasBegun, isCounted, isEnded] = [false, false, false];
  let output = '';
  const countOnce = (): void => {
    if (!isCounted) format.count();
    isCounted = true;
  };
  try {
    for await (const { items, last } of forwarded.batches) {
      for (const item of items) {
        const wasComplete = format.isWhole();
        const { text, isEnd } = format.read(item, last);
        output += text;
        isEnded = isEnd;
        if (isEnded) break;
        if (format.isWhole() && !wasComplete) forwarded.expectTrailer();
      }
      if (isEnded) break;
      if (output === '') continue;
      hasBegun = true;
      yield output;
      output = '';
    }
    if (!isEnded && !format.isWhole()) throw createInterruptedError(provider);
    countOnce();
    yield output + format.close(isEnded);
  } catch (error) {
    if (signal.aborted) throw error;
    // After the stop reason, nothing important can be missing.
    const fault = format.isWhole() ? undefined : forwarded.normalizeError(error);
    if (fault !== undefined && !hasBegun && output === '') throw fault;
    hasBegun = true;
    countOnce();
    yield output + (fault === undefined ? format.close(false) : format.fail(fault));
  } finally {
    // Also counts for a client that disconnected.
    if (hasBegun) countOnce();
  }
}
