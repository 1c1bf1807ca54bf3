import { defineMethod } from '../contract.ts';
import { agentConfig } from '../record-schemas.ts';
import { id } from '../frames.ts';
import { z } from '../zod.ts';

/** Agents and their configuration. */
export const agentContracts = {
  'agents.list': defineMethod({
    params: z.strictObject({}),
    result: z.object({
      agents: z.array(z.object({ id, session_count: z.number().int(), config: agentConfig })),
      /** Instructions of agents without their own. */
      defaultInstructions: z.string(),
    }),
    docs: 'Lists the agents with the settings that are set for each. The agent `main` always exists.',
    policy: { scope: 'read' },
  }),
  'agents.add': defineMethod({
    params: z.strictObject({ agent_id: id, config: agentConfig.optional() }),
    result: z.object({ agent_id: id, created: z.literal(true) }),
    emits: ['config.changed', 'sessions.changed'],
    docs: 'Creates an agent. Returns `ALREADY_EXISTS` if the ID is taken.',
    fails: ['ALREADY_EXISTS'],
    policy: { scope: 'admin', controlPlane: true },
  }),
  'agents.remove': defineMethod({
    params: z.strictObject({
      agent_id: id,
      /** Also delete the agent’s sessions. */
      deleteSessions: z.boolean().default(false),
    }),
    result: z.object({
      agent_id: id,
      removed: z.literal(true),
      /** Number of sessions that were deleted, with `deleteSessions`. */
      deletedSessions: z.number().int().optional(),
    }),
    emits: ['config.changed', 'sessions.changed'],
    docs: 'Removes an agent. Its sessions remain readable and carry its name as `removedAgent`, until an agent with the same ID is created; with `deleteSessions: true` they are deleted. `main` cannot be removed.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin', controlPlane: true },
  }),
  'agents.bindings': defineMethod({
    params: z.strictObject({}),
    result: z.array(z.object({ pattern: z.string(), agentId: id })),
    docs: 'Lists the rules that choose the agent for senders in channels. The first matching pattern wins; `*` matches everyone. The app and API clients name the agent themselves.',
    policy: { scope: 'read' },
  }),
};
