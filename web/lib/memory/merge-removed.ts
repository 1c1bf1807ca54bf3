/**
 * Merges a reloaded list with the items of the earlier one for which `stays` returns true: they keep their positions, so that an action can
 * be undone there.
 */
export function mergeRemoved<T extends { id: string }>(before: readonly T[], after: readonly T[], stays: (item: T) => boolean): T[] {
  const there = new Set(after.map(({ id }) => id));
  const merged = [...after];
  for (const [at, item] of before.entries()) if (!there.has(item.id) && stays(item)) merged.splice(at, 0, item);
  return merged;
}
