import { approvalContracts } from '#shared/rpc/methods/approval-contracts.ts';
import type { ApprovalService } from './approval-service.ts';
import { requirePerson } from '../../system/person.ts';
import { defineMethods } from '../../system/methods.ts';
import type { Lazy } from '../../system/modules.ts';

export const approvalMethods = defineMethods(approvalContracts)(({ approvalService }: { approvalService: Lazy<ApprovalService> }) => ({
  'approvals.list': async ({ status }) => {
    const list = await (await approvalService.load()).approvals.list(status);
    return { approvals: list, count: list.length };
  },

  'approvals.resolve': async ({ id, ...decision }, caller) => {
    requirePerson(caller, 'approve or deny');
    return { approval: await (await approvalService.load()).approvals.resolve(id, decision) };
  },
}));
