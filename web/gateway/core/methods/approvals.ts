import type { approvals } from '#shared/rpc/methods/approvals.ts';
import type { Desk } from '../approvals/desk.ts';
import { requirePerson } from '../approvals/person.ts';
import type { Handlers } from '../dispatch.ts';

export const approvalMethods = ({ desk }: { desk(): Promise<Desk> }): Handlers<typeof approvals> => ({
  'approvals.list': async ({ status }) => {
    const list = await (await desk()).approvals.list(status);
    return { approvals: list, count: list.length };
  },

  'approvals.resolve': async ({ id, ...decision }, caller) => {
    requirePerson(caller, 'approve or deny');
    return { approval: await (await desk()).approvals.resolve(id, decision) };
  },
});
