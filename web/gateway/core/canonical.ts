import { isObject } from './merge.ts';

/** Serializes to JSON with sorted members: objects with equal members give the same text, whatever their insertion order. */
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
