/**
 * Maximum nesting of arrays and objects: more than any real value has, and well below the depth that overflows the stack when it is
 * serialized.
 */
const MOST_LEVELS = 500;

/** `JSON.parse` for external text. Also throws a `SyntaxError` for values that are nested too deeply to be serialized again. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  // Each level takes two brackets.
  if (text.length > 2 * MOST_LEVELS && levelsOf(value) > MOST_LEVELS)
    throw new SyntaxError(`arrays and objects can be at most ${MOST_LEVELS} levels deep`);
  return value;
}

/** Counts to just over the most. */
function levelsOf(value: unknown): number {
  let levels = 0;
  for (let level = [value].filter(isNode); level.length > 0 && levels <= MOST_LEVELS; levels++) level = level.flatMap(childrenOf);
  return levels;
}

const isNode = (value: unknown): value is object => typeof value === 'object' && value !== null;
const childrenOf = (node: object): object[] => Object.values(node).filter(isNode);
