import { isObject } from './merge-patch.ts';

/** Serializes to JSON with sorted members: objects with equal members give the same text, whatever their insertion order. */
export const toCanonicalJson = (value: unknown): string => JSON.stringify(sortMembers(value)) ?? 'undefined';

function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sortMembers(value[name])]),
  );
}
