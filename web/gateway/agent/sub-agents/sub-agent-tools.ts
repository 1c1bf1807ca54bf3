import { z } from '#shared/rpc/zod.ts';
import type { Lazy } from '../../system/modules.ts';
import { defineTool } from '../tools/define-tool.ts';
import type { Tool } from '../tools/tool-registry.ts';
import type { SubAgents } from './sub-agents.ts';

const params = z.strictObject({
  task: z.string().trim().min(1).max(50_000).describe('Everything it needs to know: it does not see this conversation'),
  title: z.string().trim().min(1).max(80).optional().describe('A few words for the person'),
  agent: z.string().min(1).max(128).optional().describe('Id of another agent; default: a copy of you'),
  model: z.string().min(1).max(300).optional().describe('Model key, or "small" for simple work; default: its own'),
  tools: z.array(z.string().min(1).max(200)).max(100).optional().describe('Names of the only tools it may use, or patterns with *'),
  budget: z
    .strictObject({ tokens: z.number().int().min(1).optional(), usd: z.number().positive().optional() })
    .optional()
    .describe('It stops when this is used up'),
  continue: z.string().min(1).max(128).optional().describe('Id of an earlier sub-agent of this chat, which continues with this task'),
});

/** The tool for sub-agents. */
export const subAgentTools = (subAgents: Lazy<SubAgents>): Tool[] => [
  defineTool({
    name: 'agent_run',
    title: 'Delegate task',
    summary: 'Hands a task to a sub-agent, which works on its own and returns the result.',
    description:
      'Hands a task to a sub-agent with a context of its own, and returns its answer. Call it several times in one step: they work side by side. Useful for independent or long subtasks.',
    source: 'core',
    scope: 'chat',
    params,
    // Its calls are checked one by one, with what this run has read.
    impact: 'reads',
    run: async ({ continue: continues, ...task }, context) => (await subAgents.load()).run({ ...task, continues }, context),
  }),
];
