import type { plans } from '#shared/rpc/methods/plan.ts';
import type { Handlers } from '../dispatch.ts';
import type { ContentLabels } from '../trust/labels.ts';
import { sessionKey } from '../vault.ts';
import type { Workbench } from '../workbench.ts';

export interface PlanDeps {
  workbench(): Promise<Pick<Workbench, 'plans'>>;
  labels: Pick<ContentLabels, 'remove'>;
}

export const planMethods = ({ workbench, labels }: PlanDeps): Handlers<typeof plans> => ({
  'plan.list': async () => {
    const all = await (await workbench()).plans.list();
    return { plans: all, count: all.length };
  },
  'plan.get': async ({ planId }) => (await workbench()).plans.get(planId),
  'plan.resume': async ({ planId }, { principal, scopes, follow }) => {
    const { plans } = await workbench();
    const { agentId, sessionId } = await plans.get(planId);
    follow(sessionKey(agentId, sessionId));
    return plans.resume(planId, { principal, scopes });
  },
  'plan.delete': async ({ planId }) => {
    await (await workbench()).plans.remove(planId);
    await labels.remove('plan', planId);
    return { deleted: true };
  },
});
