import { execContracts, type ExecRequest } from '#shared/rpc/methods/exec-contracts.ts';
import { isPerson, requirePerson } from '../../system/person.ts';
import type { ApprovalService } from '../approvals/approval-service.ts';
import { defineMethods } from '../../system/methods.ts';
import { toGrantee } from './grantee.ts';
import { withoutScriptTexts } from './exec-views.ts';
import type { Lazy } from '../../system/modules.ts';

const toVisibleRequest = ({ principal }: { principal: string }, request: ExecRequest): ExecRequest =>
  isPerson(principal) ? request : withoutScriptTexts(request);

const NO_RUN = { agentId: null, sessionId: null, runId: null };

export const execMethods = defineMethods(execContracts)(({ approvalService }: { approvalService: Lazy<ApprovalService> }) => ({
  'exec.list': async () => {
    const requests = await (await approvalService.load()).exec.list();
    return { requests, count: requests.length };
  },

  'exec.get': async ({ requestId }, caller) => ({
    request: toVisibleRequest(caller, await (await approvalService.load()).exec.get(requestId)),
  }),

  'exec.create': async ({ command, args, workingDir }, caller) => {
    const { signal, connId, principal } = caller;
    const request = { command, args, workingDir, connId, grantee: toGrantee(principal), ...NO_RUN };
    return { request: toVisibleRequest(caller, await (await approvalService.load()).exec.create(request, signal)) };
  },

  'exec.approve': async ({ requestId, always }, caller) => {
    requirePerson(caller, 'approve a command');
    return { request: await (await approvalService.load()).exec.approve(requestId, always) };
  },

  'exec.deny': async ({ requestId, reason }, caller) => {
    requirePerson(caller, 'deny a command');
    return { request: await (await approvalService.load()).exec.deny(requestId, reason) };
  },

  'exec.cancel': async ({ requestId }, caller) => ({
    request: toVisibleRequest(caller, await (await approvalService.load()).exec.cancel(requestId)),
  }),

  'exec.policies': async () => {
    const policies = await (await approvalService.load()).exec.listPolicies();
    return { policies, count: policies.length };
  },

  'exec.forget': async ({ hash }) => {
    await (await approvalService.load()).exec.removePolicy(hash);
    return { forgotten: true };
  },

  'tools.exec_approve': async ({ requestId, approved }, caller) => {
    requirePerson(caller, 'approve or deny a command');
    const { exec: requests } = await approvalService.load();
    await (approved ? requests.approve(requestId, false) : requests.deny(requestId));
    return { ok: true };
  },
}));
