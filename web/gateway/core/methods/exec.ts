import type { exec, ExecRequest } from '#shared/rpc/methods/exec.ts';
import { isPerson, requirePerson } from '../approvals/person.ts';
import type { Desk } from '../approvals/desk.ts';
import type { Handlers } from '../dispatch.ts';
import { toGrantee } from '../exec/grantee.ts';
import { withoutTexts } from '../exec/shown.ts';

const shownTo = ({ principal }: { principal: string }, request: ExecRequest): ExecRequest =>
  isPerson(principal) ? request : withoutTexts(request);

const BY_HAND = { agentId: null, sessionId: null, runId: null };

export const execMethods = ({ desk }: { desk(): Promise<Desk> }): Handlers<typeof exec> => ({
  'exec.list': async () => {
    const requests = await (await desk()).exec.list();
    return { requests, count: requests.length };
  },

  'exec.get': async ({ requestId }, caller) => ({ request: shownTo(caller, await (await desk()).exec.get(requestId)) }),

  'exec.create': async ({ command, args, workingDir }, caller) => {
    const { signal, connId, principal } = caller;
    const wanted = { command, args, workingDir, connId, grantee: toGrantee(principal), ...BY_HAND };
    return { request: shownTo(caller, await (await desk()).exec.create(wanted, signal)) };
  },

  'exec.approve': async ({ requestId, always }, caller) => {
    requirePerson(caller, 'approve a command');
    return { request: await (await desk()).exec.approve(requestId, always) };
  },

  'exec.deny': async ({ requestId, reason }, caller) => {
    requirePerson(caller, 'deny a command');
    return { request: await (await desk()).exec.deny(requestId, reason) };
  },

  'exec.cancel': async ({ requestId }, caller) => ({ request: shownTo(caller, await (await desk()).exec.cancel(requestId)) }),

  'exec.policies': async () => {
    const policies = await (await desk()).exec.policies();
    return { policies, count: policies.length };
  },

  'exec.forget': async ({ hash }) => {
    await (await desk()).exec.forget(hash);
    return { forgotten: true };
  },

  'tools.exec_approve': async ({ requestId, approved }, caller) => {
    requirePerson(caller, 'approve or deny a command');
    const { exec: requests } = await desk();
    await (approved ? requests.approve(requestId, false) : requests.deny(requestId));
    return { ok: true };
  },
});
