import type { Change } from '#shared/canvas/change.ts';
import { pageDb } from '#lib/state/page-db.ts';
import type { ChangeStore } from './change-queue.ts';

/** Changes to a drawing that the gateway may not have, in this browser. */
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

/** The drawings that wait for some of theirs, and since when, milliseconds since 1970. */
export async function listPendingDrawings(): Promise<Map<string, number>> {
  const records = await (await pageDb()).getAll('drawingChanges');
  const since = new Map<string, number>();
  for (const { drawingId, at } of records) since.set(drawingId, Math.min(at, since.get(drawingId) ?? at));
  return since;
}
