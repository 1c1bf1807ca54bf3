import { defineModule, type Lazy } from '../../../system/modules.ts';
import type { Embedder } from '../../../knowledge/memory/vectors/passage-vectors.ts';
import type { Providers } from '../../../providers/providers.ts';
import type { Settings } from '../../../config/settings-schema.ts';
import type { Vault } from '../../../storage/vault-interface.ts';
import type { AgentMemoriesDeps, MemoryStore } from './agent-memories.ts';
import type { LongTermMemories, LongTermMemoriesDeps } from './long-term-memories.ts';
import type { DailySummariesDeps } from './summary/daily-summaries.ts';

/** Name under which embedding calls appear in the usage. */
const MEMORY_PRINCIPAL = 'memory';

/** The long-term files alone, without the search. */
export const longTermMemoriesModule = defineModule<LongTermMemoriesDeps>()({
  name: 'longTermMemories',
  needs: ['vault', 'clock', 'agents'],
  load: async (needs) => new (await import('./long-term-memories.ts')).LongTermMemories(needs),
});

type MemoriesNeeds = Omit<AgentMemoriesDeps, 'longTerm' | 'embedder' | 'store' | 'vault'> & {
  vault: AgentMemoriesDeps['vault'] & Pick<Vault, 'usage'>;
  longTermMemories: Lazy<LongTermMemories>;
  memoryStore: ((workspace: string) => Promise<MemoryStore>) | undefined;
  settings(): Settings;
  providers: Pick<Providers, 'resolve'>;
};

/** The complete memory, including search. */
export const memoriesModule = defineModule<MemoriesNeeds>()({
  name: 'memories',
  needs: ['vault', 'clock', 'agents', 'timeZone', 'log', 'labels', 'longTermMemories', 'memoryStore', 'settings', 'providers'],
  async load({ longTermMemories, memoryStore, settings, providers, ...needs }) {
    const [{ AgentMemories }, { createProviderEmbedder }] = await Promise.all([
      import('./agent-memories.ts'),
      import('./vectors/provider-embedder.ts'),
    ]);
    const { vault, clock } = needs;
    const embedder = (): Embedder | undefined => {
      const { model } = settings().memory.embeddings;
      if (model === null) return undefined;
      return createProviderEmbedder(model, {
        providers,
        onUsage: (call) =>
          vault.usage.add({
            id: crypto.randomUUID(),
            at: clock.now(),
            sessionKey: null,
            principal: MEMORY_PRINCIPAL,
            purpose: 'embedding',
            ...call,
          }),
      });
    };
    return new AgentMemories({ ...needs, embedder, store: memoryStore, longTerm: await longTermMemories.load() });
  },
});

/** Summaries of past days. */
export const dailySummariesModule = defineModule<DailySummariesDeps>()({
  name: 'dailySummaries',
  needs: ['vault', 'clock', 'agents', 'models', 'findSmallModel', 'memories', 'provenance', 'timeZone', 'log', 'silenceMs'],
  load: async (needs) => new (await import('./summary/daily-summaries.ts')).DailySummaries(needs),
});
