import { defineModule, type Lazy } from '../../system/modules.ts';
import type { AgentMemories } from '../knowledge/memory/agent-memories.ts';
import type { Provenance } from '../knowledge/provenance/provenance.ts';
import type { LongTermMemories } from '../knowledge/memory/long-term-memories.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { ContentLabels } from '../trust/content-labels.ts';
import type { SummariserDeps } from './summariser.ts';

type CompactorNeeds = Omit<SummariserDeps, 'remember' | 'canRemember'> & {
  vault: Pick<Vault, 'sessions' | 'collection'>;
  memories: Lazy<AgentMemories>;
  longTermMemories: Lazy<LongTermMemories>;
  labels: ContentLabels;
  provenance: Lazy<Provenance>;
};

/** Summarises the earlier part of chats that outgrow their model's context. */
export const compactorModule = defineModule<CompactorNeeds>()({
  name: 'compactor',
  needs: [
    'vault',
    'hub',
    'clock',
    'models',
    'findSmallModel',
    'log',
    'settings',
    'silenceMs',
    'memories',
    'longTermMemories',
    'labels',
    'provenance',
  ],
  load: async (needs) => {
    const [{ Compactor }, { canRemember, createFactRecorder }] = await Promise.all([
      import('./compactor.ts'),
      import('./remember-facts.ts'),
    ]);
    return new Compactor({ ...needs, remember: createFactRecorder(needs), canRemember });
  },
  stop: (compactor) => compactor.stop(),
});
