/** An unused id for a name, of the characters that ids may have. `otherwise`: the id if the name has no such character. */
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
