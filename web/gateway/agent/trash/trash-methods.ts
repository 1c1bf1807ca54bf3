import { trashContracts } from '#shared/rpc/methods/trash-contracts.ts';
import { defineMethods } from '../../system/methods.ts';
import type { Lazy } from '../../system/modules.ts';
import type { Trash } from './trash.ts';

export const trashMethods = defineMethods(trashContracts)(({ trash }: { trash: Lazy<Trash> }) => ({
  'trash.list': async () => {
    const items = await (await trash.load()).list();
    return { items, count: items.length };
  },
  'trash.restore': async ({ id }) => (await trash.load()).restore(id),
  'trash.delete': async ({ id }) => {
    await (await trash.load()).delete(id);
    return { deleted: true };
  },
  'trash.empty': async () => ({ deleted: await (await trash.load()).empty() }),
}));
