import type { Plan, PlanStep } from '#shared/rpc/methods/plan-contracts.ts';
import { deliverText, type OutcomeDeliveryDeps } from './outcome-delivery.ts';

const MAX_GOAL_CHARS = 200;
const MARKS: Readonly<Record<PlanStep['status'], string>> = { completed: '✓', failed: '✗', skipped: '–', running: '…', pending: '…' };

/** Tells the destinations of a plan that it has ended, or waits for a person; once for each of its runs. */
export async function deliverPlan(
  deps: Pick<OutcomeDeliveryDeps, 'deliveries' | 'settings' | 'log'>,
  plan: Plan,
  outside: readonly string[],
): Promise<void> {
  const { id, deliver, runId, status, agentId, sessionId } = plan;
  if (!deliver || (deliver.when === 'on-failure' && status === 'completed')) return;
  await deliverText(deps, {
    ...{ key: `plan:${id}:${runId ?? ''}`, options: deliver, source: { kind: 'plan', id }, text: describePlan(plan) },
    path: `/chat/${agentId}/${sessionId}`,
    ...(outside.length > 0 ? { outside } : {}),
  });
}

/** The state of a plan, with the results of its steps. */
function describePlan({ goal, status, steps, currentStepIndex }: Plan): string {
  const shown = goal.length <= MAX_GOAL_CHARS ? goal : `${goal.slice(0, MAX_GOAL_CHARS - 1)}…`;
  const position = `step ${Math.min(currentStepIndex + 1, steps.length)} of ${steps.length}`;
  const sentence =
    status === 'completed'
      ? `The plan “${shown}” is done.`
      : status === 'failed'
        ? `The plan “${shown}” has failed at ${position}.`
        : `The plan “${shown}” waits for you at ${position}. Open Perch to continue it.`;
  const lines = steps.map(({ description, result, status: state }) => `${MARKS[state]} ${description}${result ? `: ${result}` : ''}`);
  return [sentence, '', ...lines].join('\n');
}
