import type { Plan, PlanStep } from '#shared/rpc/methods/plan.ts';

/** Number of steps shown before and after the current one; further ones are only counted. */
const BEFORE = 5;
const AFTER = 12;
const MAX_TEXT = 300;

const short = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT)}…` : line;
};

/** The plan as a reminder in the system prompt of the agent that follows it. */
export function planNote(plan: Plan): string {
  const at = plan.currentStepIndex;
  const from = Math.max(0, at - BEFORE);
  const to = Math.min(plan.steps.length, at + AFTER + 1);
  return [
    headline(plan),
    `Goal: ${short(plan.goal)}`,
    ...(from > 0 ? [`(${from} earlier steps are done)`] : []),
    ...plan.steps.slice(from, to).map((step, index) => line(step, from + index === at)),
    ...(to < plan.steps.length ? [`(${plan.steps.length - to} more steps follow; plan_get shows them)`] : []),
  ].join('\n');
}

function headline({ id, status }: Plan): string {
  const plan = `Plan ${id} of this chat`;
  if (status === 'running')
    return `${plan} is in progress. Follow it step by step, and call plan_update whenever a step is done, fails or has to change:`;
  if (status === 'failed') return `${plan} has failed at a step. To continue, make that step running again or skip it by plan_update:`;
  return `${plan} is ${status}. If you are asked to continue it, make its current step running by plan_update:`;
}

const line = ({ id, description, status, result }: PlanStep, current: boolean): string =>
  `${current ? '→' : '-'} ${id} [${status}] ${short(description)}${result ? ` (${short(result)})` : ''}`;
