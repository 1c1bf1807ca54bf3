import type { AgentMemories } from '../memory/agent-memories.ts';
import { MEMORY_TOOLS } from '../memory/tools/memory-tool-kinds.ts';
import { defineTool } from './define-tool.ts';
import type { Tool } from './registry.ts';

export interface MemoryToolsDeps {
  memories: { load(): Promise<Pick<AgentMemories, 'of'>> };
}

/** Tools over what the agent remembers that calls them. */
export const memoryTools = ({ memories }: MemoryToolsDeps): Tool[] =>
  MEMORY_TOOLS.map(({ name, title, summary, description, params, run }) =>
    defineTool({
      name,
      title,
      summary,
      description,
      params,
      source: 'memory',
      async run(args, { agentId, sessionKey }) {
        // What was just said in the same conversation is before the model already.
        return run(
          await (await memories.load()).of(agentId),
          args,
          (found) => found.sessionKey === undefined || found.sessionKey !== sessionKey,
        );
      },
    }),
  );
