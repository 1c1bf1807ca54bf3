import type { Change } from '#shared/canvas/change.ts';
import { pageDb } from '#app/state/page-db.ts';
import type { ChangeStore } from './change-queue.ts';

/** Stores changes to a drawing in this browser until the gateway has them. */
export const createChangeStore = (
  drawingId: string,
): ChangeStore & { readLeftover(): Promise<{ changes: Change[]; forget: () => Promise<void> }[]> } => ({
  async store(changes) {
    const id = crypto.randomUUID();
    await (await pageDb()).put('drawingChanges', { id, drawingId, changes: [...changes], at: Date.now() });
    return () => deleteChanges(id);
  },

  /** Reads changes left by an earlier visit, or about to be sent by another tab: sending them twice is harmless. */
  async readLeftover() {
    const records = await (await pageDb()).getAllFromIndex('drawingChanges', 'drawingId', drawingId);
    return records.sort((a, b) => a.at - b.at).map(({ id, changes }) => ({ changes, forget: () => deleteChanges(id) }));
  },
});

const deleteChanges = async (id: string): Promise<void> => (await pageDb()).delete('drawingChanges', id);

/** Ids of drawings with unsent changes, with the time of the first one, milliseconds since 1970. */
export async function listPendingDrawings(): Promise<Map<string, number>> {
  const records = await (await pageDb()).getAll('drawingChanges');
  const sinceById = new Map<string, number>();
  for (const { drawingId, at } of records) sinceById.set(drawingId, Math.min(at, sinceById.get(drawingId) ?? at));
  return sinceById;
}
