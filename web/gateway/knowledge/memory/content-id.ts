/** Normalizes a text for comparison: line breaks and spacing are ignored. */
export const normalizeSpacing = (text: string): string => text.normalize('NFC').replaceAll(/\s+/g, ' ').trim();

/** Returns an id derived from the text alone, 20 hex characters. Not collision-resistant against an attacker. */
export function computeContentId(text: string): string {
  return computeTextVersion(normalizeSpacing(text));
}

/** Like `computeContentId`, but every character counts. */
export const computeTextVersion = (text: string): string => hash(text, 0x9e3779b9) + hash(text, 0x85ebca6b);

/**
 * cyrb53, two multiplicative hashes mixed, truncated to 40 bits. Many texts are hashed at once, and the platform's asynchronous digests
 * would take seconds.
 */
function hash(text: string, seed: number): string {
  let [a, b] = [0xdeadbeef ^ seed, 0x41c6ce57 ^ seed];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return (b & 0xff).toString(16).padStart(2, '0') + (a >>> 0).toString(16).padStart(8, '0');
}
