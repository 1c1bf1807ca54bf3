import { planContracts } from '#shared/rpc/methods/plan-contracts.ts';
import { defineMethods } from '../../system/methods.ts';
import type { ContentLabels } from '../trust/content-labels.ts';
import { toSessionKey } from '../../storage/chat-records.ts';
import type { AgentToolkit } from '../toolkit/agent-toolkit.ts';
import type { Lazy } from '../../system/modules.ts';

interface PlanMethodsDeps {
  agentToolkit: Lazy<Pick<AgentToolkit, 'plans'>>;
  labels: Pick<ContentLabels, 'remove'>;
}

export const planMethods = defineMethods(planContracts)(({ agentToolkit, labels }: PlanMethodsDeps) => ({
  'plan.list': async () => {
    const all = await (await agentToolkit.load()).plans.list();
    return { plans: all, count: all.length };
  },
  'plan.get': async ({ planId }) => (await agentToolkit.load()).plans.get(planId),
  'plan.resume': async ({ planId }, { principal, scopes, follow }) => {
    const { plans } = await agentToolkit.load();
    const { agentId, sessionId } = await plans.get(planId);
    follow(toSessionKey(agentId, sessionId));
    return plans.resume(planId, { principal, scopes });
  },
  'plan.delete': async ({ planId }) => {
    await (await agentToolkit.load()).plans.remove(planId);
    await labels.remove('plan', planId);
    return { deleted: true };
  },
}));
