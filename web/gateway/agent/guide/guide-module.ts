import { defineModule, type Lazy } from '../../system/modules.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { LongTermMemories } from '../knowledge/memory/long-term-memories.ts';
import type { ToolRegistry } from '../tools/tool-registry.ts';

interface GuideNeeds {
  clock: Clock;
  vault: Vault;
  tools: ToolRegistry;
  longTermMemories: Lazy<LongTermMemories>;
}

/** The guide, which answers without a model. */
export const guideModule = defineModule<GuideNeeds>()({
  name: 'guide',
  needs: ['clock', 'vault', 'tools', 'longTermMemories'],
  load: async ({ clock, vault, tools, longTermMemories }) =>
    new (await import('./guide.ts')).GuideProvider({
      clock,
      async tools() {
        await tools.loadAll();
        return tools.list();
      },
      sources: (agentId) => ({
        memories: async () => (await longTermMemories.load()).list(agentId),
        messages: async (question) => (await import('../knowledge/recall/message-search.ts')).findMessages(vault, question),
      }),
    }),
});
