import { RpcError } from '#shared/rpc/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { ChangeQueue } from './change-queue.ts';
import { keptChanges, waitingDrawings } from './kept-changes.ts';

/** A drawing that is not there may come yet, from another host; changes to it are kept so long. */
const KEPT_MS = 30 * 86_400_000;

/**
 * Sends offline changes of drawings that are closed: open ones send their own, and sending twice is harmless. Failed changes wait for the
 * next connection.
 */
export async function sendLeftChanges(): Promise<void> {
  for (const [drawingId, since] of await waitingDrawings()) {
    const kept = keptChanges(drawingId);
    const left = await kept.left();
    const queue = new ChangeQueue({
      send: (changes) => gateway.call('drawings.change', { drawingId, changes: [...changes] }),
      kept,
      onState({ error }) {
        const gone = error instanceof RpcError && error.code === 'NOT_FOUND' && Date.now() - since > KEPT_MS;
        if (gone) for (const { forget } of left) void forget().catch(() => {});
      },
    });
    for (const { changes, forget } of left) queue.addKept(changes, forget);
  }
}
