import { trashContracts } from '#shared/rpc/methods/trash-contracts.ts';
import { defineMethods } from '../../system/methods.ts';
import type { Lazy } from '../../system/modules.ts';
import { requirePerson } from '../../system/person.ts';
import type { Trash } from './trash.ts';

export const trashMethods = defineMethods(trashContracts)(({ trash }: { trash: Lazy<Trash> }) => ({
  'trash.list': async (_params, caller) => {
    requirePerson(caller, 'read the trash');
    const items = await (await trash.load()).list();
    return { items, count: items.length };
  },
  'trash.restore': async ({ id }, caller) => {
    requirePerson(caller, 'restore from the trash');
    return (await trash.load()).restore(id);
  },
  'trash.delete': async ({ id }, caller) => {
    requirePerson(caller, 'delete from the trash');
    await (await trash.load()).delete(id);
    return { deleted: true };
  },
  'trash.empty': async (_params, caller) => {
    requirePerson(caller, 'empty the trash');
    return { deleted: await (await trash.load()).empty() };
  },
}));
