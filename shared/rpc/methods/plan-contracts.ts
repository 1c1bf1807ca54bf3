import { defineMethod } from '../contract.ts';
import { deliverOptions } from '../delivery-target.ts';
import { agentId, sessionId } from '../record-schemas.ts';
import { z } from '../zod.ts';

export const planStep = z.object({
  id: z.string(),
  description: z.string(),
  status: z.enum(['pending', 'running', 'completed', 'failed', 'skipped']),
  /** The result, or why the step failed. */
  result: z.string().optional(),
  startedAt: z.number().optional(),
  completedAt: z.number().optional(),
});
export type PlanStep = z.infer<typeof planStep>;

export const plan = z.object({
  id: z.string(),
  goal: z.string(),
  status: z.enum(['pending', 'running', 'paused', 'completed', 'failed']),
  steps: z.array(planStep),
  /** Index of the next or current step; the number of steps if all are done. */
  currentStepIndex: z.number().int().nonnegative(),
  /** The agent of the plan, and the session in which it is followed. */
  agentId,
  sessionId,
  /** The current or last run of the plan. */
  runId: z.string().optional(),
  /** Where it is told that the plan has ended, or waits for a person. */
  deliver: deliverOptions.optional(),
  /** The run after which that was told last. */
  deliveredRunId: z.string().optional(),
  createdAt: z.number(),
  updatedAt: z.number(),
});
/** The steps that an agent follows to reach a goal. */
export type Plan = z.infer<typeof plan>;

const planId = z.string().min(1).max(128);

/** Plans that agents create, update and follow. */
export const planContracts = {
  'plan.list': defineMethod({
    params: z.strictObject({}),
    result: z.object({ plans: z.array(plan), count: z.number().int() }),
    docs: 'Lists plans, most recently changed first.',
    policy: { scope: 'read' },
  }),
  'plan.get': defineMethod({
    params: z.strictObject({ planId }),
    result: plan,
    docs: 'Returns a plan with its steps.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'plan.resume': defineMethod({
    params: z.strictObject({ planId }),
    result: z.object({ resumed: z.boolean(), plan, reason: z.string().optional() }),
    emits: ['plan.changed'],
    docs: 'Resumes a paused plan: starts a run in the plan’s session. A plan that is not paused is not changed, and `reason` says why.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write', metered: true },
  }),
  'plan.delete': defineMethod({
    params: z.strictObject({ planId }),
    result: z.object({ deleted: z.literal(true) }),
    emits: ['plan.changed'],
    docs: 'Deletes a plan. A run that follows it continues without it.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
};
