import { isObject } from './merge.ts';

/** JSON in which objects of the same members read the same, whatever the order in which those were set. */
export const canonical = (value: unknown): string => JSON.stringify(sorted(value)) ?? 'undefined';

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sorted(value[name])]),
  );
}
