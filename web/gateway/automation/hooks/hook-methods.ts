import { hookContracts } from '#shared/rpc/methods/hook-contracts.ts';
import { defineMethods } from '../../system/methods.ts';
import type { Lazy } from '../../system/modules.ts';
import { requirePerson } from '../../system/person.ts';
import type { Hooks } from './hooks.ts';

export const hookMethods = defineMethods(hookContracts)(({ hooks }: { hooks: Lazy<Hooks> }) => ({
  'hooks.list': async () => {
    const list = await (await hooks.load()).list();
    return { hooks: list, count: list.length };
  },
  'hooks.create': async ({ hook }, caller) => {
    // A program could let others start agents, or send events anywhere.
    requirePerson(caller, 'create a hook');
    return (await hooks.load()).create(hook);
  },
  'hooks.update': async ({ name, ...changes }, caller) => {
    requirePerson(caller, 'change a hook');
    return { hook: await (await hooks.load()).update(name, changes) };
  },
  'hooks.delete': async ({ name }, caller) => {
    requirePerson(caller, 'delete a hook');
    await (await hooks.load()).remove(name);
    return { deleted: true };
  },
  'hooks.rotate': async ({ name, secret }, caller) => {
    requirePerson(caller, 'replace the secret of a hook');
    return (await hooks.load()).rotate(name, secret);
  },
  'hooks.test': async ({ name }, caller) => {
    requirePerson(caller, 'test a hook');
    return { call: await (await hooks.load()).test(name) };
  },
  'hooks.deliveries': async ({ name, state, limit }) => {
    const deliveries = await (await hooks.load()).listCalls(name, state, limit);
    return { deliveries, count: deliveries.length };
  },
  'hooks.resend': async ({ id }, caller) => {
    requirePerson(caller, 'resend a call');
    return { call: await (await hooks.load()).resend(id) };
  },
}));
