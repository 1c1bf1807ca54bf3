import { call } from '../contract.ts';
import { agentId, sessionId } from '../records.ts';
import { z } from '../zod.ts';

export const approval = z.object({
  id: z.string(),
  /** The tool that waits. */
  tool: z.string(),
  args: z.record(z.string(), z.unknown()),
  /** One sentence for the person: what will happen. */
  summary: z.string(),
  /** Null: a person asked for a command. */
  agentId: agentId.nullable(),
  sessionId: sessionId.nullable(),
  runId: z.string().nullable(),
  /** The model's call that waits. */
  toolCallId: z.string().optional(),
  /** What a command is for, as the model says. */
  purpose: z.string().optional(),
  status: z.enum(['pending', 'approved', 'denied', 'expired', 'cancelled']),
  createdAt: z.number(),
  expiresAt: z.number(),
  resolvedAt: z.number().optional(),
  reason: z.string().optional(),
  /** Of a command: its request (`exec.get`). */
  requestId: z.string().optional(),
});
/** A call of a side-effecting tool that waits for a person's word (decisions, "Cron, tools, exec, plans"). */
export type Approval = z.infer<typeof approval>;

const id = z.string().min(1).max(128);

/** Approvals: one thing for every side-effecting tool. */
export const approvals = {
  'approvals.list': call({
    params: z.strictObject({ status: z.enum(['pending', 'all']).default('pending') }),
    result: z.object({ approvals: z.array(approval), count: z.number().int() }),
    docs: 'Lists what waits for a person’s word, or all that ever did, the newest first; commands among them.',
    policy: { scope: 'read' },
  }),
  'approvals.resolve': call({
    params: z.strictObject({
      id,
      decision: z.enum(['approve', 'deny']),
      /** For this tool (or exactly this command) from now on. */
      always: z.boolean().default(false),
      reason: z.string().max(1000).optional(),
    }),
    result: z.object({ approval }),
    emits: ['approval.resolved', 'exec.resolved'],
    docs: 'Approves or denies. One that is not pending is returned as it is. Only a person can: API keys and channels never approve.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
};
