import type { drawings } from '#shared/rpc/methods/drawings.ts';
import type { Handlers } from '../dispatch.ts';
import type { Drawings } from '../drawings/drawings.ts';
import { followedKey } from '../drawings/followed.ts';
import type { ContentLabels } from '../trust/labels.ts';

export interface DrawingDeps {
  drawings(): Promise<Drawings>;
  labels: Pick<ContentLabels, 'remove'>;
}

export const drawingMethods = ({ drawings: load, labels }: DrawingDeps): Handlers<typeof drawings> => ({
  'drawings.list': async () => {
    const all = await (await load()).list();
    return { drawings: all, count: all.length };
  },
  'drawings.create': async ({ changes, ...made }) => (await load()).create(made, changes),
  'drawings.open': async ({ drawingId, follow }, caller) => (await load()).open(drawingId, follow ? caller : undefined),
  'drawings.change': async ({ drawingId, changes }, { connId }) => ({ stored: await (await load()).change(drawingId, changes, connId) }),
  'drawings.close': ({ drawingId }, { unfollow }) => {
    unfollow(followedKey(drawingId));
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
