/** Normalizes a text for comparison: line breaks and spacing are ignored. */
export const normalizeSpacing = (text: string): string =>
  PLAIN_TEXT.test(text) ? text : text.normalize('NFC').replaceAll(/\s+/g, ' ').trim();

/** ASCII words with single spaces between them, which normalization does not change: a quick test for most texts. */
const PLAIN_TEXT = /^[!-~]+(?: [!-~]+)*$/;

/** Returns an id derived from the text alone, 20 hex characters. Not collision-resistant against an attacker. */
export function computeContentId(text: string): string {
  return computeTextVersion(normalizeSpacing(text));
}

const SEEDS = [0x9e3779b9, 0x85ebca6b] as const;

/**
 * Like `computeContentId`, but every character counts: cyrb53 with two seeds, each two multiplicative hashes mixed and truncated to 40 bits.
 * Many texts are hashed at once, and the platform's asynchronous digests would take seconds. Both seeds in one pass, as reading the
 * characters takes most of the time.
 */
export function computeTextVersion(text: string): string {
  let [a, b] = [0xdeadbeef ^ SEEDS[0], 0x41c6ce57 ^ SEEDS[0]];
  let [c, d] = [0xdeadbeef ^ SEEDS[1], 0x41c6ce57 ^ SEEDS[1]];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    a = Math.imul(a ^ code, FIRST_PRIME);
    b = Math.imul(b ^ code, SECOND_PRIME);
    c = Math.imul(c ^ code, FIRST_PRIME);
    d = Math.imul(d ^ code, SECOND_PRIME);
  }
  return mixHash(a, b) + mixHash(c, d);
}

const FIRST_PRIME = 2654435761 | 0;
const SECOND_PRIME = 1597334677;

function mixHash(first: number, second: number): string {
  const a = Math.imul(first ^ (first >>> 16), 2246822507) ^ Math.imul(second ^ (second >>> 13), 3266489909);
  const b = Math.imul(second ^ (second >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return (b & 0xff).toString(16).padStart(2, '0') + (a >>> 0).toString(16).padStart(8, '0');
}
