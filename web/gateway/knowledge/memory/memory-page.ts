import type { MethodParsed, MethodResult } from '#shared/rpc/methods/index.ts';
import type { MemoryEntry } from '#shared/rpc/methods/memory-contracts.ts';

/** Returns one page of the memories, newest first. Times are exact to the minute; within a minute, later lines of the file come first. */
export function toMemoryPage(
  file: readonly MemoryEntry[],
  { category, limit = Infinity, cursor }: Omit<MethodParsed<'memory.list'>, 'agentId'>,
): MethodResult<'memory.list'> {
  const byCategory: MethodResult<'memory.list'>['byCategory'] = {};
  for (const entry of file) byCategory[entry.category] = (byCategory[entry.category] ?? 0) + 1;
  const matching = category === undefined ? file : file.filter((entry) => entry.category === category);
  const sorted = matching.toReversed().sort((a, b) => b.createdAt - a.createdAt);
  const from = cursor === undefined ? 0 : findCursorIndex(sorted, cursor);
  const memories = sorted.slice(from, from + limit);
  const last = memories.at(-1);
  const more = last !== undefined && from + memories.length < sorted.length;
  return { memories, count: sorted.length, byCategory, cursor: more ? `${last.createdAt} ${last.id}` : null };
}

/**
 * Index of the first entry after a cursor. If the cursor's entry was deleted, entries of its minute are repeated so that none is skipped.
 */
function findCursorIndex(sorted: readonly MemoryEntry[], cursor: string): number {
  const [minute = '', id = ''] = cursor.split(' ');
  const last = sorted.findIndex((entry) => entry.id === id && entry.createdAt === Number(minute));
  if (last !== -1) return last + 1;
  const next = sorted.findIndex(({ createdAt }) => createdAt <= Number(minute));
  return next === -1 ? sorted.length : next;
}
