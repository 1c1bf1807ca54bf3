import type { BodyEdit } from '../link/splice.ts';

/** Letters of a key may be written as `\u006d`; the known keys have only ASCII letters. */
const MAY_HIDE_KEYS = /\\u00[46]/i;

/**
 * Edits that turn the text of `body` into `target`, which has other keys or values at the top level. Positions are in bytes of UTF-8.
 * Undefined if a key occurs twice or within another object, so that its position is ambiguous.
 */
export function computeBodyEdits(text: string, body: Record<string, unknown>, target: object): BodyEdit[] | undefined {
  const edits: BodyEdit[] = [];
  if (MAY_HIDE_KEYS.test(text)) return undefined;
  for (const [key, value] of Object.entries(target)) {
    if (Object.hasOwn(body, key) && body[key] === value) continue;
    const put = JSON.stringify(value);
    const range = Object.hasOwn(body, key) ? findValueRange(text, key, body[key]) : undefined;
    if (Object.hasOwn(body, key) && !range) return undefined;
    edits.push(range ? { ...range, put } : { at: text.indexOf('{') + 1, drop: 0, put: `${JSON.stringify(key)}:${put},` });
  }
  return edits
    .sort((a, b) => a.at - b.at)
    .map(({ at, drop, put }) => ({ at: countBytes(text.slice(0, at)), drop: countBytes(text.slice(at, at + drop)), put }));
}

/** Position of the only value of a key, which is a string. Text that looks like a key within a string has a backslash before its quote. */
function findValueRange(text: string, key: string, value: unknown): { at: number; drop: number } | undefined {
  const [match, ...others] = text.matchAll(new RegExp(`(?<=[{,\\s])"${key}"\\s*:\\s*`, 'g'));
  if (!match || others.length > 0) return undefined;
  const at = match.index + match[0].length;
  const literal = /^"(?:[^"\\]|\\.)*"/.exec(text.slice(at, at + MAX_VALUE_CHARS))?.[0];
  return literal !== undefined && JSON.parse(literal) === value ? { at, drop: literal.length } : undefined;
}

/** Maximum length of a value to search for. */
const MAX_VALUE_CHARS = 1000;

const encoder = new TextEncoder();
const countBytes = (text: string): number => encoder.encode(text).byteLength;
