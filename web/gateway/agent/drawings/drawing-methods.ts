import { drawingContracts } from '#shared/rpc/methods/drawing-contracts.ts';
import { defineMethods } from '../../system/methods.ts';
import type { DrawingStore } from '../../drawings/drawing-store.ts';
import { toDrawingKey } from '../../drawings/drawing-key.ts';
import type { ContentLabels } from '../trust/content-labels.ts';
import type { Trash } from '../trash/trash.ts';
import type { Lazy } from '../../system/modules.ts';

interface DrawingMethodsDeps {
  drawings: Lazy<DrawingStore>;
  labels: Pick<ContentLabels, 'add'>;
  trash: Lazy<Trash>;
}

export const drawingMethods = defineMethods(drawingContracts)(({ drawings, labels, trash }: DrawingMethodsDeps) => ({
  'drawings.list': async () => {
    const all = await (await drawings.load()).list();
    return { drawings: all, count: all.length };
  },
  'drawings.create': async ({ changes, outside = [], ...made }) => {
    const id = crypto.randomUUID();
    await labels.add('drawing', id, outside);
    return (await drawings.load()).create({ id, ...made }, changes);
  },
  'drawings.open': async ({ drawingId, follow }, caller) => (await drawings.load()).open(drawingId, follow ? caller : undefined),
  'drawings.change': async ({ drawingId, changes }, { connId }) => ({
    stored: await (await drawings.load()).change(drawingId, changes, connId),
  }),
  'drawings.close': ({ drawingId }, { unfollow }) => {
    unfollow(toDrawingKey(drawingId));
    return { closed: true };
  },
  'drawings.rename': async ({ drawingId, title }) => (await drawings.load()).rename(drawingId, title),
  'drawings.delete': async ({ drawingId }) => {
    const trashId = await (await trash.load()).moveDrawing(drawingId);
    return { deleted: true, ...(trashId === null ? {} : { trashId }) };
  },
  'drawings.draft': async ({ drawingId, shape }, caller) => {
    (await drawings.load()).draft(drawingId, shape, caller);
    return {};
  },
}));
