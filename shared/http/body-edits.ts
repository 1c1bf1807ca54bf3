import type { Edit } from '../link/splice.ts';

/** Letters of a key may be written as `\u006d`; those of other scripts are no letters of our keys. */
const MAY_HIDE_KEYS = /\\u00[46]/i;

/**
 * Edits that turn the text of `own` into `wanted`, which has other keys or values at the top level. Positions are in bytes of UTF-8.
 * Undefined if a key occurs twice or within another object, so that its position is ambiguous.
 */
export function editsOf(text: string, own: Record<string, unknown>, wanted: object): Edit[] | undefined {
  const edits: Edit[] = [];
  if (MAY_HIDE_KEYS.test(text)) return undefined;
  for (const [key, value] of Object.entries(wanted)) {
    if (Object.hasOwn(own, key) && own[key] === value) continue;
    const put = JSON.stringify(value);
    const place = Object.hasOwn(own, key) ? placeOf(text, key, own[key]) : undefined;
    if (Object.hasOwn(own, key) && !place) return undefined;
    edits.push(place ? { ...place, put } : { at: text.indexOf('{') + 1, drop: 0, put: `${JSON.stringify(key)}:${put},` });
  }
  return edits
    .sort((a, b) => a.at - b.at)
    .map(({ at, drop, put }) => ({ at: bytesOf(text.slice(0, at)), drop: bytesOf(text.slice(at, at + drop)), put }));
}

/** Position of the only value of a key, which is a string. Text that looks like a key within a string has a backslash before its quote. */
function placeOf(text: string, key: string, value: unknown): { at: number; drop: number } | undefined {
  const [found, ...others] = text.matchAll(new RegExp(`(?<=[{,\\s])"${key}"\\s*:\\s*`, 'g'));
  if (!found || others.length > 0) return undefined;
  const at = found.index + found[0].length;
  const written = /^"(?:[^"\\]|\\.)*"/.exec(text.slice(at, at + MAX_VALUE))?.[0];
  return written !== undefined && JSON.parse(written) === value ? { at, drop: written.length } : undefined;
}

/** Characters of a value that is looked for. */
const MAX_VALUE = 1000;

const encoder = new TextEncoder();
const bytesOf = (text: string): number => encoder.encode(text).byteLength;
