import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { DeliverOptions } from '#shared/rpc/delivery-target.ts';
import type { Plan, PlanStep } from '#shared/rpc/methods/plan-contracts.ts';

export const MAX_PLAN_STEPS = 50;

/** Status changes that an agent may make. Only `startStep` and `pausePlan` can make others. */
const ALLOWED_TRANSITIONS: Readonly<Record<PlanStep['status'], readonly PlanStep['status'][]>> = {
  pending: ['running', 'skipped'],
  running: ['completed', 'failed', 'skipped'],
  failed: ['running', 'skipped'],
  skipped: ['pending'],
  completed: [],
};

/** Index of the running step, else of the failed one, else of the next one; the number of steps if all are done. */
export function findCurrentIndex(steps: readonly PlanStep[]): number {
  for (const status of ['running', 'failed', 'pending'] as const) {
    const index = steps.findIndex((step) => step.status === status);
    if (index >= 0) return index;
  }
  return steps.length;
}

export const getCurrentStep = ({ steps, currentStepIndex }: Plan): PlanStep | undefined => steps[currentStepIndex];

export const createSteps = (descriptions: readonly string[], from: number): PlanStep[] =>
  descriptions.map((description, index) => ({ id: `s${from + index + 1}`, description, status: 'pending' }));

/** Sets the status of a step, with the times that belong to it. */
function setStepStatus({ completedAt: _, startedAt, ...step }: PlanStep, status: PlanStep['status'], now: number): PlanStep {
  if (status === 'pending') return { ...step, status };
  if (status === 'running') return { ...step, status, startedAt: startedAt ?? now };
  return { ...step, status, ...(startedAt === undefined ? {} : { startedAt }), completedAt: now };
}

const updatePlan = (plan: Plan, steps: PlanStep[], status: Plan['status'], now: number): Plan => ({
  ...plan,
  steps,
  status,
  currentStepIndex: findCurrentIndex(steps),
  updatedAt: now,
});

/** Resumes the current step under a run. Clears the reason of an earlier pause. */
export function startStep(plan: Plan, runId: string, now: number): Plan {
  const steps = plan.steps.map((step, index) => {
    if (index !== plan.currentStepIndex) return step;
    const { result: _, ...rest } = step;
    return setStepStatus(rest, 'running', now);
  });
  return { ...updatePlan(plan, steps, 'running', now), runId };
}

/** Stops the running step: it becomes the next one again, with the reason as its result. */
export function pausePlan(plan: Plan, reason: string | undefined, now: number): Plan {
  const steps = plan.steps.map((step) =>
    step.status === 'running' ? { ...setStepStatus(step, 'pending', now), ...(reason === undefined ? {} : { result: reason }) } : step,
  );
  return updatePlan(plan, steps, 'paused', now);
}

/** Changes that an agent makes to a plan in one call. */
export interface PlanChange {
  goal?: string | undefined;
  /** The step that `status`, `result` and `description` apply to; defaults to the current one. */
  stepId?: string | undefined;
  status?: PlanStep['status'] | undefined;
  result?: string | undefined;
  description?: string | undefined;
  add?: readonly string[] | undefined;
  /** The step after which new ones are inserted; defaults to the last one. */
  after?: string | undefined;
  /** Where it is told how the plan ends; null for nowhere. */
  deliver?: DeliverOptions | null | undefined;
}

/** Applies a change to a plan. Throws `INVALID_PARAMS` or `NOT_FOUND`, naming the allowed values. */
export function applyPlanChange(plan: Plan, change: PlanChange, runId: string, now: number): Plan {
  if (plan.status === 'completed') fail(`Plan ${plan.id} is completed and can’t be changed. Create another one with plan_create.`);
  let { steps } = plan;
  const { add, after: afterId, status, result, description, stepId = getCurrentStep(plan)?.id } = change;
  // An unknown step is an error even if nothing would change: the caller may mean another plan.
  if (afterId !== undefined) requireStepIndex(steps, afterId);
  if (add) steps = insertSteps(steps, add, afterId);
  const stepIndex = stepId === undefined ? steps.length : requireStepIndex(steps, stepId);
  if (status !== undefined || result !== undefined || description !== undefined) {
    steps = steps.map((step, index) => (index === stepIndex ? editStep(step, change, steps, now) : step));
  }
  const next = startNextStep(steps, plan.status, now);
  const goal = change.goal ?? plan.goal;
  const { deliver: before, ...rest } = plan;
  const deliver = change.deliver === undefined ? before : (change.deliver ?? undefined);
  const after = updatePlan({ ...rest, goal, ...(deliver ? { deliver } : {}) }, next, computePlanStatus(next, plan.status), now);
  return after.status === 'running' ? { ...after, runId } : after;
}

function editStep(step: PlanStep, { status, result, description }: PlanChange, steps: readonly PlanStep[], now: number): PlanStep {
  const { id } = step;
  if (description !== undefined && step.status !== 'pending' && step.status !== 'running' && step.status !== 'failed')
    fail(`Step ${id} is ${step.status}. Only pending, running or failed steps can be rewritten.`);
  let next = step;
  if (status !== undefined && status !== step.status) {
    const allowed = ALLOWED_TRANSITIONS[step.status];
    if (!allowed.includes(status)) {
      const choices = allowed.length === 0 ? 'nothing else' : allowed.join(' or ');
      fail(`Step ${id} is ${step.status} and can’t become ${status}. Allowed: ${choices}.`);
    }
    const runningStep = status === 'running' ? steps.find((other) => other.status === 'running') : undefined;
    if (runningStep) fail(`Step ${runningStep.id} is running. Set it to ${ALLOWED_TRANSITIONS.running.join(' or ')} first.`);
    next = setStepStatus(step, status, now);
  }
  return { ...next, ...(result === undefined ? {} : { result }), ...(description === undefined ? {} : { description }) };
}

function insertSteps(steps: readonly PlanStep[], descriptions: readonly string[], after: string | undefined): PlanStep[] {
  if (steps.length + descriptions.length > MAX_PLAN_STEPS) fail(`A plan can have at most ${MAX_PLAN_STEPS} steps.`);
  const index = after === undefined ? steps.length : requireStepIndex(steps, after) + 1;
  const last = Math.max(0, ...steps.map(({ id }) => Number(id.slice(1)) || 0));
  return steps.toSpliced(index, 0, ...createSteps(descriptions, last));
}

function requireStepIndex(steps: readonly PlanStep[], id: string): number {
  const index = steps.findIndex((step) => step.id === id);
  if (index < 0) throw new RpcError('NOT_FOUND', `No step with id "${id}". Steps: ${steps.map((step) => step.id).join(', ')}.`);
  return index;
}

/** In a running plan the next step starts when the one before it is done. */
function startNextStep(steps: PlanStep[], previousStatus: Plan['status'], now: number): PlanStep[] {
  const idle = !steps.some(({ status }) => status === 'running' || status === 'failed');
  if (!idle || (previousStatus !== 'running' && previousStatus !== 'failed')) return steps;
  const currentIndex = findCurrentIndex(steps);
  return steps.map((step, index) => (index === currentIndex ? setStepStatus(step, 'running', now) : step));
}

function computePlanStatus(steps: readonly PlanStep[], previousStatus: Plan['status']): Plan['status'] {
  const has = (status: PlanStep['status']): boolean => steps.some((step) => step.status === status);
  if (has('running')) return 'running';
  if (has('failed')) return 'failed';
  if (!has('pending')) return 'completed';
  return previousStatus;
}

function fail(message: string): never {
  throw new RpcError('INVALID_PARAMS', message);
}
