/** An id for something of this name, of the characters that ids may have, taken by none. `otherwise`: where the name has none of them. */
export function freeId(name: string, taken: ReadonlySet<string>, otherwise: string): string {
  const base =
    name
      .normalize('NFKD')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 60) || otherwise;
  let id = base;
  for (let count = 2; taken.has(id); count++) id = `${base}-${count}`;
  return id;
}
