import type { CompactorDeps } from './compaction/compactor.ts';
import { compactionLater, type LaterCompaction } from './compaction/later.ts';
import { mayRemember, rememberBy } from './compaction/remember-facts.ts';
import type { Dreamer, DreamerDeps } from './dreamer/dreamer.ts';
import { dreamerLater } from './dreamer/later.ts';
import { type Memories, type MemoriesDeps, memoriesLater } from './memory/later.ts';
import type { BeforeReplyDeps } from './recall/before-reply.ts';
import { recallLater } from './recall/later.ts';
import type { RunRecall } from './runs/deps.ts';
import { type WikisLater, wikisLater } from './wiki/later.ts';
import type { WikisDeps } from './wiki/wikis.ts';

/** What agents know beside the chat itself. The code of each part is fetched when it is wanted. */
export interface Knowledge {
  memories: Memories;
  recall: RunRecall;
  compaction: LaterCompaction;
  wikis: WikisLater;
  dreamer(): Promise<Dreamer>;
  stop(): void;
}

type KnowledgeDeps = MemoriesDeps &
  Omit<BeforeReplyDeps, 'memories'> &
  Omit<CompactorDeps, 'remember' | 'mayRemember'> &
  Omit<DreamerDeps, 'workspaceOf'> &
  WikisDeps;

export function knowledgeOf(deps: KnowledgeDeps): Knowledge {
  const memories = memoriesLater(deps);
  const compaction = compactionLater({ ...deps, remember: rememberBy(memories), mayRemember });
  const wikis = wikisLater(deps);
  return {
    memories,
    compaction,
    wikis,
    recall: recallLater({ ...deps, memories }),
    dreamer: dreamerLater({ ...deps, workspaceOf: async (agentId) => (await memories.load()).workspace(agentId) }),
    stop() {
      for (const part of [memories, compaction, wikis]) part.stop();
    },
  };
}
