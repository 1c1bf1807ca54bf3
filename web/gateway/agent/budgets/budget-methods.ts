import { budgetContracts } from '#shared/rpc/methods/budget-contracts.ts';
import { defineMethods } from '../../system/methods.ts';
import type { Lazy } from '../../system/modules.ts';
import { requirePerson } from '../../system/person.ts';
import type { Budgets } from './budgets.ts';

export const budgetMethods = defineMethods(budgetContracts)(({ budgets }: { budgets: Lazy<Budgets> }) => ({
  'budgets.list': async ({ scope }) => (await budgets.load()).list(scope),

  'budgets.set': async ({ scope, limits }, caller) => {
    // A program could raise its own budget.
    requirePerson(caller, 'set a budget');
    return { budget: await (await budgets.load()).set(scope, limits) };
  },

  'budgets.continue': async ({ scope, period }, caller) => {
    requirePerson(caller, 'continue over a budget');
    return { budget: await (await budgets.load()).continue(scope, period) };
  },
}));
