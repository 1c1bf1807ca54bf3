import type { approvalContracts } from '#shared/rpc/methods/approval-contracts.ts';
import type { ApprovalService } from '../../agent/approvals/approval-service.ts';
import { requirePerson } from '../../system/person.ts';
import type { Handlers } from '../dispatch.ts';

export const approvalMethods = ({
  approvalService,
}: {
  approvalService(): Promise<ApprovalService>;
}): Handlers<typeof approvalContracts> => ({
  'approvals.list': async ({ status }) => {
    const list = await (await approvalService()).approvals.list(status);
    return { approvals: list, count: list.length };
  },

  'approvals.resolve': async ({ id, ...decision }, caller) => {
    requirePerson(caller, 'approve or deny');
    return { approval: await (await approvalService()).approvals.resolve(id, decision) };
  },
});
