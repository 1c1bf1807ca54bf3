import { defineMethod } from '../contract.ts';
import { agentId, sessionId, subAgentLabel } from '../record-schemas.ts';
import { z } from '../zod.ts';

export const approval = z.object({
  id: z.string(),
  /** The tool that waits. `channel_reply:<channel>` is a reply to somebody on a channel, with `args` of `to`, `text` and `files`. */
  tool: z.string(),
  args: z.record(z.string(), z.unknown()),
  /** One sentence for the user that describes the effect. */
  summary: z.string(),
  /** Null if a person requested the command. */
  agentId: agentId.nullable(),
  sessionId: sessionId.nullable(),
  runId: z.string().nullable(),
  /** The ID of the model's tool call that waits. */
  toolCallId: z.string().optional(),
  /** The purpose of a command, as stated by the model. */
  purpose: z.string().optional(),
  status: z.enum(['pending', 'approved', 'denied', 'expired', 'cancelled']),
  createdAt: z.number(),
  expiresAt: z.number(),
  resolvedAt: z.number().optional(),
  reason: z.string().optional(),
  /** Where a person decided: `app`, `push`, or `channel:<id>`. */
  resolvedVia: z.string().optional(),
  /** The sub-agent that asks, if it is one. */
  subAgent: subAgentLabel.optional(),
  /** The outside sources that the run has read, such as `web:example.com`, if they make the approval necessary. */
  outside: z.array(z.string()).optional(),
  /** For commands: the ID of the request (see `exec.get`). */
  requestId: z.string().optional(),
});
/** A call of a tool that makes changes and waits for a person's approval. */
export type Approval = z.infer<typeof approval>;

const id = z.string().min(1).max(128);

/** Approvals, shared by all tools that make changes. */
export const approvalContracts = {
  'approvals.list': defineMethod({
    params: z.strictObject({ status: z.enum(['pending', 'all']).default('pending') }),
    result: z.object({ approvals: z.array(approval), count: z.number().int() }),
    docs: 'Lists the pending approvals, or all of them, newest first. Includes commands.',
    policy: { scope: 'read' },
  }),
  'approvals.resolve': defineMethod({
    params: z.strictObject({
      id,
      decision: z.enum(['approve', 'deny']),
      /** Also approve this tool, or this exact command, from now on; if the approval has `outside`, also after reading from those sources. */
      always: z.boolean().default(false),
      reason: z.string().max(1000).optional(),
    }),
    result: z.object({ approval }),
    emits: ['approval.resolved', 'exec.resolved'],
    docs: 'Approves or denies a request. A request that is no longer pending is returned unchanged. Not available to API keys and channels.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
};
