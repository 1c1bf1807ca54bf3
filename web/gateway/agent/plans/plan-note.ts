import type { Plan, PlanStep } from '#shared/rpc/methods/plan-contracts.ts';

/** Number of steps shown before and after the current one; further ones are only counted. */
const MAX_STEPS_BEFORE = 5;
const MAX_STEPS_AFTER = 12;
const MAX_TEXT_CHARS = 300;

const toShortLine = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > MAX_TEXT_CHARS ? `${line.slice(0, MAX_TEXT_CHARS)}…` : line;
};

/** The plan as a reminder in the system prompt of the agent that follows it. */
export function formatPlanNote(plan: Plan): string {
  const currentIndex = plan.currentStepIndex;
  const from = Math.max(0, currentIndex - MAX_STEPS_BEFORE);
  const to = Math.min(plan.steps.length, currentIndex + MAX_STEPS_AFTER + 1);
  return [
    formatHeadline(plan),
    `Goal: ${toShortLine(plan.goal)}`,
    ...(from > 0 ? [`(${from} earlier steps are done)`] : []),
    ...plan.steps.slice(from, to).map((step, index) => formatStep(step, from + index === currentIndex)),
    ...(to < plan.steps.length ? [`(${plan.steps.length - to} more steps follow; plan_get shows them)`] : []),
  ].join('\n');
}

function formatHeadline({ id, status }: Plan): string {
  const plan = `Plan ${id} of this chat`;
  if (status === 'running')
    return `${plan} is in progress. Follow it step by step, and call plan_update whenever a step is done, fails or has to change:`;
  if (status === 'failed') return `${plan} has failed at a step. To continue, make that step running again or skip it by plan_update:`;
  return `${plan} is ${status}. If you are asked to continue it, make its current step running by plan_update:`;
}

const formatStep = ({ id, description, status, result }: PlanStep, current: boolean): string =>
  `${current ? '→' : '-'} ${id} [${status}] ${toShortLine(description)}${result ? ` (${toShortLine(result)})` : ''}`;
