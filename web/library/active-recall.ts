// `perch/memory/active-recall`: what a memory has on a message, before it is answered (interface document 2, section 4.5).
import { isMemoryId } from '../gateway/core/memory/index/entry.ts';
import type { MemoryManager } from '../gateway/core/memory/memory-manager.ts';
import type { ActiveRecallConfigFields } from '../gateway/core/recall/config.ts';
import { buildContextMessage, type ContextMessage } from '../gateway/core/recall/context-message.ts';
import { ActiveMemoryRecaller as Recaller, type RecallerParts, type RecallSearch } from '../gateway/core/recall/recaller.ts';
import type { ActiveRecallResult } from '../gateway/core/recall/result.ts';

export { ActiveRecallConfig, type ActiveRecallConfigFields } from '../gateway/core/recall/config.ts';
export type { ContextMessage } from '../gateway/core/recall/context-message.ts';
export type { Turn } from '../gateway/core/recall/questions.ts';
export type { RecallerParts } from '../gateway/core/recall/recaller.ts';
export { ActiveRecallResult, type RecalledMemory, type SearchDebug } from '../gateway/core/recall/result.ts';
export { PromptStyle, QueryMode } from '../gateway/core/recall/settings.ts';
export { buildContextMessage };

/** A memory, or whatever searches as one. */
type Searched = Pick<MemoryManager, 'searchMemory'> & Partial<Pick<MemoryManager, 'getMemories'>>;

/** Asks a memory about each message. */
export class ActiveMemoryRecaller extends Recaller {
  /**
   * `memoryManager`: null where there is none, and each recall is `unavailable`. `workspaceDir` is the memory's own, which it knows itself: it may be left out.
   * Throws an Error that names a setting which does not fit.
   */
  constructor(
    memoryManager: Searched | null,
    config: Partial<ActiveRecallConfigFields> | Record<string, unknown> = {},
    _workspaceDir?: string,
    parts: RecallerParts = {},
  ) {
    super(memoryManager && searchOf(memoryManager), config, parts);
  }

  /** The message for the front of the message list; null unless the result `isSuccess`. */
  buildContextMessage(result: Pick<ActiveRecallResult, 'isSuccess' | 'summary'>): ContextMessage | null {
    return buildContextMessage(result);
  }
}

const searchOf = (manager: Searched): RecallSearch => ({
  backend: 'memory',
  search: async (query, limit) =>
    (await manager.searchMemory(query, limit)).map(({ id, text, category, coverage, why, at, path, lines }) => ({
      ...{ id, text, category, coverage, why, at },
      source: `${path}:${lines}`,
    })),
  // What was forgotten, or says something else now, is told no more.
  async holds(memories) {
    const remembered = new Set((await manager.getMemories?.())?.map(({ id }) => id));
    return memories.every(({ id }) => !isMemoryId(id) || !manager.getMemories || remembered.has(id));
  },
});
