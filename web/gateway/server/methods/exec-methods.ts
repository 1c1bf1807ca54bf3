import type { execContracts, ExecRequest } from '#shared/rpc/methods/exec-contracts.ts';
import { isPerson, requirePerson } from '../../system/person.ts';
import type { ApprovalService } from '../../agent/approvals/approval-service.ts';
import type { Handlers } from '../dispatch.ts';
import { toGrantee } from '../../agent/exec/grantee.ts';
import { withoutScriptTexts } from '../../agent/exec/exec-views.ts';

const toVisibleRequest = ({ principal }: { principal: string }, request: ExecRequest): ExecRequest =>
  isPerson(principal) ? request : withoutScriptTexts(request);

const NO_RUN = { agentId: null, sessionId: null, runId: null };

export const execMethods = ({ approvalService }: { approvalService(): Promise<ApprovalService> }): Handlers<typeof execContracts> => ({
  'exec.list': async () => {
    const requests = await (await approvalService()).exec.list();
    return { requests, count: requests.length };
  },

  'exec.get': async ({ requestId }, caller) => ({ request: toVisibleRequest(caller, await (await approvalService()).exec.get(requestId)) }),

  'exec.create': async ({ command, args, workingDir }, caller) => {
    const { signal, connId, principal } = caller;
    const request = { command, args, workingDir, connId, grantee: toGrantee(principal), ...NO_RUN };
    return { request: toVisibleRequest(caller, await (await approvalService()).exec.create(request, signal)) };
  },

  'exec.approve': async ({ requestId, always }, caller) => {
    requirePerson(caller, 'approve a command');
    return { request: await (await approvalService()).exec.approve(requestId, always) };
  },

  'exec.deny': async ({ requestId, reason }, caller) => {
    requirePerson(caller, 'deny a command');
    return { request: await (await approvalService()).exec.deny(requestId, reason) };
  },

  'exec.cancel': async ({ requestId }, caller) => ({
    request: toVisibleRequest(caller, await (await approvalService()).exec.cancel(requestId)),
  }),

  'exec.policies': async () => {
    const policies = await (await approvalService()).exec.listPolicies();
    return { policies, count: policies.length };
  },

  'exec.forget': async ({ hash }) => {
    await (await approvalService()).exec.removePolicy(hash);
    return { forgotten: true };
  },

  'tools.exec_approve': async ({ requestId, approved }, caller) => {
    requirePerson(caller, 'approve or deny a command');
    const { exec: requests } = await approvalService();
    await (approved ? requests.approve(requestId, false) : requests.deny(requestId));
    return { ok: true };
  },
});
