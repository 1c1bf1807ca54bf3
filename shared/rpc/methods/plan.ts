import { call } from '../contract.ts';
import { agentId, sessionId } from '../records.ts';
import { z } from '../zod.ts';

export const planStep = z.object({
  id: z.string(),
  description: z.string(),
  status: z.enum(['pending', 'running', 'completed', 'failed', 'skipped']),
  /** What came of it, or why it failed. */
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
  /** The step that is next or under way; the number of steps where all are done. */
  currentStepIndex: z.number().int().nonnegative(),
  /** Whose plan it is, and in which session it is followed. */
  agentId,
  sessionId,
  /** The run that follows it, or did last. */
  runId: z.string().optional(),
  createdAt: z.number(),
  updatedAt: z.number(),
});
/** What an agent means to do, step by step (decisions, "Cron, tools, exec, plans"). */
export type Plan = z.infer<typeof plan>;

const planId = z.string().min(1).max(128);

/** Plans that agents make, update and follow (interface document 1, sections 3 and 4.1). */
export const plans = {
  'plan.list': call({
    params: z.strictObject({}),
    result: z.object({ plans: z.array(plan), count: z.number().int() }),
    docs: 'Lists plans, the one changed last first.',
    policy: { scope: 'read' },
  }),
  'plan.get': call({
    params: z.strictObject({ planId }),
    result: plan,
    docs: 'One plan with its steps.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'plan.resume': call({
    params: z.strictObject({ planId }),
    result: z.object({ resumed: z.boolean(), plan, reason: z.string().optional() }),
    emits: ['plan.changed'],
    docs: 'Goes on with a paused plan where it was: the agent is asked, in the plan’s session, to follow it. One that is not paused is left as it is, with the reason.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write', metered: true },
  }),
  'plan.delete': call({
    params: z.strictObject({ planId }),
    result: z.object({ deleted: z.literal(true) }),
    emits: ['plan.changed'],
    docs: 'Deletes a plan; a run that follows it goes on without it.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
};
