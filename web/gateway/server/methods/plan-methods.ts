import type { planContracts } from '#shared/rpc/methods/plan-contracts.ts';
import type { Handlers } from '../dispatch.ts';
import type { ContentLabels } from '../../agent/trust/content-labels.ts';
import { toSessionKey } from '../../storage/vault-interface.ts';
import type { AgentToolkit } from '../../agent/agent-toolkit.ts';

export interface PlanMethodsDeps {
  agentToolkit(): Promise<Pick<AgentToolkit, 'plans'>>;
  labels: Pick<ContentLabels, 'remove'>;
}

export const planMethods = ({ agentToolkit, labels }: PlanMethodsDeps): Handlers<typeof planContracts> => ({
  'plan.list': async () => {
    const all = await (await agentToolkit()).plans.list();
    return { plans: all, count: all.length };
  },
  'plan.get': async ({ planId }) => (await agentToolkit()).plans.get(planId),
  'plan.resume': async ({ planId }, { principal, scopes, follow }) => {
    const { plans } = await agentToolkit();
    const { agentId, sessionId } = await plans.get(planId);
    follow(toSessionKey(agentId, sessionId));
    return plans.resume(planId, { principal, scopes });
  },
  'plan.delete': async ({ planId }) => {
    await (await agentToolkit()).plans.remove(planId);
    await labels.remove('plan', planId);
    return { deleted: true };
  },
});
