import { createLazyCompaction, type LazyCompaction } from '../compaction/lazy-compaction.ts';
import { canRemember, createFactRecorder } from '../compaction/remember-facts.ts';
import type { SummariserDeps } from '../compaction/summariser.ts';
import type { Dreamer, DreamerDeps } from './dreamer/dreamer.ts';
import { createLazyDreamer } from './dreamer/lazy-dreamer.ts';
import { type LazyMemories, type LazyMemoriesDeps, createLazyMemories } from './memory/lazy-memories.ts';
import type { DailySummariesDeps } from './memory/summary/daily-summaries.ts';
import { createLazyDailySummaries } from './memory/summary/lazy-daily-summaries.ts';
import type { ReplyRecallDeps } from './recall/reply-recall.ts';
import { createLazyRecall } from './recall/lazy-recall.ts';
import type { RunRecall } from '../runs/run-types.ts';
import type { ContentLabels } from '../trust/content-labels.ts';
import { type LazyWikis, createLazyWikis } from './wiki/lazy-wikis.ts';
import type { WikisDeps } from './wiki/wikis.ts';

/** Knowledge of agents apart from the chat itself: memory, wiki and dreaming. The code of each part is loaded on first use. */
export interface Knowledge {
  memories: LazyMemories;
  recall: RunRecall;
  compaction: LazyCompaction;
  wikis: LazyWikis;
  dreamer(): Promise<Dreamer>;
  /** Summarises the past days of an agent. */
  summarise(agentId: string): Promise<void>;
  stop(): void;
}

type KnowledgeDeps = LazyMemoriesDeps &
  Omit<ReplyRecallDeps, 'memories'> &
  Omit<SummariserDeps, 'remember' | 'canRemember'> &
  Omit<DreamerDeps, 'openWorkspace'> &
  Omit<DailySummariesDeps, 'memories'> &
  WikisDeps & { labels: ContentLabels };

export function createKnowledge(deps: KnowledgeDeps): Knowledge {
  const memories = createLazyMemories(deps);
  const compaction = createLazyCompaction({ ...deps, remember: createFactRecorder(memories, deps.labels), canRemember });
  const wikis = createLazyWikis(deps);
  return {
    memories,
    compaction,
    wikis,
    recall: createLazyRecall({ ...deps, memories }),
    dreamer: createLazyDreamer({ ...deps, openWorkspace: async (agentId) => (await memories.load()).getReviewedWorkspace(agentId) }),
    summarise: createLazyDailySummaries({ ...deps, memories }),
    stop() {
      for (const part of [memories, compaction, wikis]) part.stop();
    },
  };
}
