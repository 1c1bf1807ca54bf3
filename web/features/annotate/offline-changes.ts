import { RpcError } from '#shared/rpc/rpc-error.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { ChangeQueue } from './change-queue.ts';
import { createChangeStore, listPendingDrawings } from './change-store.ts';

/** Time for which changes to a missing drawing are stored, in milliseconds: it may still arrive from another host. */
const MAX_AGE_MS = 30 * 86_400_000;

/**
 * Sends offline changes of drawings that are closed: open ones send their own, and sending twice is harmless. Failed changes wait for the
 * next connection.
 */
export async function sendOfflineChanges(): Promise<void> {
  for (const [drawingId, since] of await listPendingDrawings()) {
    const store = createChangeStore(drawingId);
    const leftovers = await store.readLeftover();
    const queue = new ChangeQueue({
      send: (changes) => gateway.call('drawings.change', { drawingId, changes: [...changes] }),
      store,
      onState({ error }) {
        const isExpired = error instanceof RpcError && error.code === 'NOT_FOUND' && Date.now() - since > MAX_AGE_MS;
        if (isExpired) for (const { forget } of leftovers) void forget().catch(() => {});
      },
    });
    for (const { changes, forget } of leftovers) queue.addStored(changes, forget);
  }
}
