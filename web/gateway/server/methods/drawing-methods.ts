import type { drawingContracts } from '#shared/rpc/methods/drawing-contracts.ts';
import type { Handlers } from '../dispatch.ts';
import type { DrawingStore } from '../../drawings/drawing-store.ts';
import { toDrawingKey } from '../../drawings/drawing-key.ts';
import type { ContentLabels } from '../../agent/trust/content-labels.ts';

export interface DrawingMethodsDeps {
  drawings(): Promise<DrawingStore>;
  labels: Pick<ContentLabels, 'add' | 'remove'>;
}

export const drawingMethods = ({ drawings: load, labels }: DrawingMethodsDeps): Handlers<typeof drawingContracts> => ({
  'drawings.list': async () => {
    const all = await (await load()).list();
    return { drawings: all, count: all.length };
  },
  'drawings.create': async ({ changes, outside = [], ...made }) => {
    const id = crypto.randomUUID();
    await labels.add('drawing', id, outside);
    return (await load()).create({ id, ...made }, changes);
  },
  'drawings.open': async ({ drawingId, follow }, caller) => (await load()).open(drawingId, follow ? caller : undefined),
  'drawings.change': async ({ drawingId, changes }, { connId }) => ({ stored: await (await load()).change(drawingId, changes, connId) }),
  'drawings.close': ({ drawingId }, { unfollow }) => {
    unfollow(toDrawingKey(drawingId));
    return { closed: true };
  },
  'drawings.rename': async ({ drawingId, title }) => (await load()).rename(drawingId, title),
  'drawings.delete': async ({ drawingId }) => {
    await (await load()).remove(drawingId);
    await labels.remove('drawing', drawingId);
    return { deleted: true };
  },
  'drawings.draft': async ({ drawingId, shape }, caller) => {
    (await load()).draft(drawingId, shape, caller);
    return {};
  },
});
