/** What makes two texts the same: how they are broken into lines and spaced does not count. */
export const sameText = (text: string): string => text.normalize('NFC').replaceAll(/\s+/g, ' ').trim();

/** An id that a text has wherever it stands, 20 characters of hex. No proof against who looks for two texts of one id. */
export function contentId(text: string): string {
  return textVersion(sameText(text));
}

/** As `contentId`, where each character counts. */
export const textVersion = (text: string): string => hash(text, 0x9e3779b9) + hash(text, 0x85ebca6b);

/** cyrb53, a mix of two multiplicative hashes, of which 40 bits are taken: many texts are hashed at once, so that waiting for the platform's digests would take seconds. */
function hash(text: string, seed: number): string {
  let [a, b] = [0xdeadbeef ^ seed, 0x41c6ce57 ^ seed];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return (b & 0xff).toString(16).padStart(2, '0') + (a >>> 0).toString(16).padStart(8, '0');
}
