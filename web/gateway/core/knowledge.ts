import { compactionLater, type LaterCompaction } from './compaction/later.ts';
import { mayRemember, rememberBy } from './compaction/remember-facts.ts';
import type { SummariserDeps } from './compaction/summariser.ts';
import type { Dreamer, DreamerDeps } from './dreamer/dreamer.ts';
import { dreamerLater } from './dreamer/later.ts';
import { type Memories, type MemoriesDeps, memoriesLater } from './memory/later.ts';
import type { DailySummariesDeps } from './memory/summary/daily-summaries.ts';
import { dailySummariesLater } from './memory/summary/later.ts';
import type { BeforeReplyDeps } from './recall/before-reply.ts';
import { recallLater } from './recall/later.ts';
import type { RunRecall } from './runs/deps.ts';
import type { ContentLabels } from './trust/labels.ts';
import { type WikisLater, wikisLater } from './wiki/later.ts';
import type { WikisDeps } from './wiki/wikis.ts';

/** Knowledge of agents apart from the chat itself: memory, wiki and dreaming. The code of each part is loaded on first use. */
export interface Knowledge {
  memories: Memories;
  recall: RunRecall;
  compaction: LaterCompaction;
  wikis: WikisLater;
  dreamer(): Promise<Dreamer>;
  /** Summarises the past days of an agent. */
  summarise(agentId: string): Promise<void>;
  stop(): void;
}

type KnowledgeDeps = MemoriesDeps &
  Omit<BeforeReplyDeps, 'memories'> &
  Omit<SummariserDeps, 'remember' | 'mayRemember'> &
  Omit<DreamerDeps, 'workspaceOf'> &
  Omit<DailySummariesDeps, 'memories'> &
  WikisDeps & { labels: ContentLabels };

export function knowledgeOf(deps: KnowledgeDeps): Knowledge {
  const memories = memoriesLater(deps);
  const compaction = compactionLater({ ...deps, remember: rememberBy(memories, deps.labels), mayRemember });
  const wikis = wikisLater(deps);
  return {
    memories,
    compaction,
    wikis,
    recall: recallLater({ ...deps, memories }),
    dreamer: dreamerLater({ ...deps, workspaceOf: async (agentId) => (await memories.load()).reviewed(agentId) }),
    summarise: dailySummariesLater({ ...deps, memories }),
    stop() {
      for (const part of [memories, compaction, wikis]) part.stop();
    },
  };
}
