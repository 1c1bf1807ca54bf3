// `perch/memory/active-recall`: finds memories relevant to a message before it is answered (docs/decisions/0040).
import { isMemoryId } from '../gateway/knowledge/memory/index/index-entry.ts';
import type { MemoryManager } from '../gateway/knowledge/memory/memory-manager.ts';
import type { ActiveRecallConfigFields } from '../gateway/knowledge/recall/recall-config.ts';
import { buildContextMessage, type ContextMessage } from '../gateway/knowledge/recall/context-message.ts';
import { ActiveMemoryRecaller as Recaller, type RecallerParts, type RecallSearch } from '../gateway/knowledge/recall/recaller.ts';
import type { ActiveRecallResult } from '../gateway/knowledge/recall/recall-result.ts';

export { ActiveRecallConfig, type ActiveRecallConfigFields } from '../gateway/knowledge/recall/recall-config.ts';
export type { ContextMessage } from '../gateway/knowledge/recall/context-message.ts';
export type { Turn } from '../gateway/knowledge/recall/recall-queries.ts';
export type { RecallerParts } from '../gateway/knowledge/recall/recaller.ts';
export { ActiveRecallResult, type RecalledMemory, type SearchDebug } from '../gateway/knowledge/recall/recall-result.ts';
export { PromptStyle, QueryMode } from '../gateway/knowledge/recall/recall-settings.ts';
export { buildContextMessage };

/** A memory, or an object with the same search method. */
type SearchableMemory = Pick<MemoryManager, 'searchMemory'> & Partial<Pick<MemoryManager, 'getMemories'>>;

/** Asks a memory about each message. */
export class ActiveMemoryRecaller extends Recaller {
  /**
   * `memoryManager`: null if there is none; each recall is then `unavailable`. `workspaceDir` may be omitted, since the memory knows it.
   * Throws an Error that names an invalid setting.
   */
  constructor(
    memoryManager: SearchableMemory | null,
    config: Partial<ActiveRecallConfigFields> | Record<string, unknown> = {},
    _workspaceDir?: string,
    parts: RecallerParts = {},
  ) {
    super(memoryManager && createRecallSearch(memoryManager), config, parts);
  }

  /** The message for the front of the message list; null unless the result `isSuccess`. */
  buildContextMessage(result: Pick<ActiveRecallResult, 'isSuccess' | 'summary'>): ContextMessage | null {
    return buildContextMessage(result);
  }
}

const createRecallSearch = (manager: SearchableMemory): RecallSearch => ({
  backend: 'memory',
  search: async (query, limit) =>
    (await manager.searchMemory(query, limit)).map(({ id, text, category, coverage, fit, why, at, path, lines }) => ({
      ...{ id, text, category, coverage, fit, why, at },
      source: `${path}:${lines}`,
    })),
  // Drops memories that were forgotten or changed in the meantime.
  async holds(memories) {
    const remembered = new Set((await manager.getMemories?.())?.map(({ id }) => id));
    return memories.every(({ id }) => !isMemoryId(id) || !manager.getMemories || remembered.has(id));
  },
});
