import { call } from '../contract.ts';
import { agentConfig } from '../records.ts';
import { id } from '../frames.ts';
import { z } from '../zod.ts';

/** The agents (interface document 1, sections 4.1 and 4.2; decisions, "Sessions, agents …"). */
export const agents = {
  'agents.list': call({
    params: z.strictObject({}),
    result: z.object({ agents: z.array(z.object({ id, session_count: z.number().int(), config: agentConfig })) }),
    docs: 'Agents with their configuration, as far as it is set. `main` is always there.',
    policy: { scope: 'read' },
  }),
  'agents.add': call({
    params: z.strictObject({ agent_id: id, config: agentConfig.optional() }),
    result: z.object({ agent_id: id, created: z.literal(true) }),
    emits: ['config.changed'],
    docs: 'Creates an agent. An id that is taken is ALREADY_EXISTS.',
    fails: ['ALREADY_EXISTS'],
    policy: { scope: 'admin', controlPlane: true },
  }),
  'agents.remove': call({
    params: z.strictObject({ agent_id: id }),
    result: z.object({ agent_id: id, removed: z.literal(true) }),
    emits: ['config.changed'],
    docs: 'Removes an agent; its sessions stay to be read. `main` cannot be removed.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin', controlPlane: true },
  }),
  'agents.bindings': call({
    params: z.strictObject({}),
    result: z.array(z.object({ pattern: z.string(), agentId: id })),
    docs: 'Which agent is to answer whom who writes through a channel: the first pattern that fits decides, and `*` fits everyone. The app and programs name their agent themselves.',
    policy: { scope: 'read' },
  }),
};
