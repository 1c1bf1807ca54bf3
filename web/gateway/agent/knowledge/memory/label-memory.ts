import type { ContentLabels } from '../../trust/content-labels.ts';
import { toMemoryId } from '../../../knowledge/memory/index/index-entry.ts';
import type { LongTermMemories } from './long-term-memories.ts';
import type { Lazy } from '../../../system/modules.ts';

/** Labels a memory that is about to be written with its outside sources, unless it already exists. */
export async function labelMemory(
  { labels, longTermMemories }: { labels: ContentLabels; longTermMemories: Lazy<Pick<LongTermMemories, 'listIn'>> },
  workspace: string,
  text: string,
  sources: readonly string[],
): Promise<void> {
  if (sources.length === 0) return;
  const id = toMemoryId(text);
  if ((await (await longTermMemories.load()).listIn(workspace)).some((memory) => memory.id === id)) return;
  await labels.add('memory', `${workspace}/${id}`, sources);
}
