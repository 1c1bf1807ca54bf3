import { defineModule, type Lazy } from '../../../system/modules.ts';
import type { AgentMemories } from '../memory/agent-memories.ts';
import type { DreamerDeps } from './dreamer.ts';

/** Dreaming: consolidates the memory of agents. */
export const dreamerModule = defineModule<Omit<DreamerDeps, 'openWorkspace'> & { memories: Lazy<AgentMemories> }>()({
  name: 'dreamer',
  needs: [
    ...(['vault', 'hub', 'clock', 'sync', 'agents', 'models', 'findSmallModel', 'settings', 'timeZone', 'silenceMs'] as const),
    ...(['memories', 'provenance', 'labels', 'fault'] as const),
  ],
  load: async ({ memories, ...needs }) =>
    new (await import('./dreamer.ts')).Dreamer({
      ...needs,
      openWorkspace: async (agentId) => (await memories.load()).getReviewedWorkspace(agentId),
    }),
});
