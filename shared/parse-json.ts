/**
 * Maximum nesting of arrays and objects: more than any real value has, and well below the depth that overflows the stack when it is
 * serialized.
 */
const MAX_LEVELS = 500;

/** `JSON.parse` for external text. Also throws a `SyntaxError` for values that are nested too deeply to be serialized again. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  // Each level takes two brackets.
  if (text.length > 2 * MAX_LEVELS && countLevels(value) > MAX_LEVELS)
    throw new SyntaxError(`arrays and objects can be at most ${MAX_LEVELS} levels deep`);
  return value;
}

/** Counts to just over the most. */
function countLevels(value: unknown): number {
  let levels = 0;
  for (let level = [value].filter(isContainer); level.length > 0 && levels <= MAX_LEVELS; levels++)
    level = level.flatMap(getChildContainers);
  return levels;
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;
const getChildContainers = (node: object): object[] => Object.values(node).filter(isContainer);
