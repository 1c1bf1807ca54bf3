import { defineModule, type Lazy } from '../../system/modules.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { LongTermMemories } from '../knowledge/memory/long-term-memories.ts';
import type { ToolRegistry } from '../tools/tool-registry.ts';
import type { ContentLabels } from '../trust/content-labels.ts';
import { getMessageSources } from '../trust/content-sources.ts';

interface GuideNeeds {
  clock: Clock;
  vault: Vault;
  tools: ToolRegistry;
  longTermMemories: Lazy<LongTermMemories>;
  labels: Pick<ContentLabels, 'list'>;
}

/** The guide, which answers without a model. */
export const guideModule = defineModule<GuideNeeds>()({
  name: 'guide',
  needs: ['clock', 'vault', 'tools', 'longTermMemories', 'labels'],
  load: async ({ clock, vault, tools, longTermMemories, labels }) =>
    new (await import('./guide.ts')).GuideProvider({
      clock,
      async tools() {
        await tools.loadAll();
        return tools.list();
      },
      // Its answers quote them without a label, and a model may read the answers later.
      sources: (agentId) => ({
        async memories() {
          const longTerm = await longTermMemories.load();
          const workspace = longTerm.getWorkspaceName(agentId);
          const [memories, labelled] = await Promise.all([longTerm.listIn(workspace), labels.list('memory', `${workspace}/`)]);
          return memories.filter(({ id }) => !labelled.has(`${workspace}/${id}`));
        },
        async messages(question) {
          const { findMessages } = await import('../knowledge/recall/message-search.ts');
          return (await findMessages(vault, question)).filter((message) => getMessageSources(message).length === 0);
        },
      }),
    }),
});
