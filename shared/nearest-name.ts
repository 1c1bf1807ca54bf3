/** The name that takes the fewest changes of characters to get from `name`, regardless of case and `_`; undefined if there are no names. */
export function findNearestName(name: string, names: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let fewestChanges = Infinity;
  const from = normalizeName(name);
  for (const each of names) {
    const changes = countChanges(from, normalizeName(each));
    if (changes < fewestChanges) [nearest, fewestChanges] = [each, changes];
  }
  return nearest;
}

const normalizeName = (name: string): string => name.toLowerCase().replaceAll('_', '');

/** Levenshtein distance. */
function countChanges(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [at, char] of [...from].entries()) {
    const next = [at + 1];
    for (let other = 0; other < to.length; other++) {
      const same = (row[other] ?? 0) + (char === to[other] ? 0 : 1);
      next.push(Math.min(same, (row[other + 1] ?? 0) + 1, (next[other] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
