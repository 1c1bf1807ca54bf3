/** An unused id for a name, of the characters that ids may have. `fallbackId`: the id if the name has no such character. */
export function createFreeId(name: string, usedIds: ReadonlySet<string>, fallbackId: string): string {
  const base =
    name
      .normalize('NFKD')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 60) || fallbackId;
  let id = base;
  for (let count = 2; usedIds.has(id); count++) id = `${base}-${count}`;
  return id;
}
