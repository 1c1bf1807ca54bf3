/**
 * Merges a reloaded list with the items of the earlier one for which `shouldStay` returns true: they keep their positions, so that an action can
 * be undone there.
 */
export function mergeRemoved<T extends { id: string }>(before: readonly T[], after: readonly T[], shouldStay: (item: T) => boolean): T[] {
  const ids = new Set(after.map(({ id }) => id));
  const merged = [...after];
  for (const [index, item] of before.entries()) if (!ids.has(item.id) && shouldStay(item)) merged.splice(index, 0, item);
  return merged;
}
