import type { ContentLabels } from '../../trust/content-labels.ts';
import { toMemoryId } from '../../../knowledge/memory/index/index-entry.ts';
import type { LongTermMemories } from './long-term-memories.ts';
import type { Lazy } from '../../../system/modules.ts';

/** Labels a memory that is about to be written with its outside sources, unless it already exists. */
export async function labelMemory(
  { labels, longTermMemories }: { labels: ContentLabels; longTermMemories: Lazy<Pick<LongTermMemories, 'list' | 'getWorkspaceName'>> },
  agentId: string,
  text: string,
  sources: readonly string[],
): Promise<void> {
  if (sources.length === 0) return;
  const memories = await longTermMemories.load();
  const id = toMemoryId(text);
  if ((await memories.list(agentId)).some((memory) => memory.id === id)) return;
  await labels.add('memory', `${memories.getWorkspaceName(agentId)}/${id}`, sources);
}
