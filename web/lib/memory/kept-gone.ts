/** A list that was read anew, with those of the earlier one that `stays` says yes to: they keep their places, so that what was done can be undone there. */
export function keptGone<T extends { id: string }>(before: readonly T[], after: readonly T[], stays: (item: T) => boolean): T[] {
  const there = new Set(after.map(({ id }) => id));
  const merged = [...after];
  for (const [at, item] of before.entries()) if (!there.has(item.id) && stays(item)) merged.splice(at, 0, item);
  return merged;
}
