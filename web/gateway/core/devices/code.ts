/** Digits and capitals that nobody takes for one another: no 0 and O, no 1, I and L. */
const ALPHABET = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';
const LENGTH = 8;
/** Bytes from here on would make some characters likelier than others. */
const FAIR = 256 - (256 % ALPHABET.length);

/** A new pairing code: 8 characters, each as likely as the others; 39 bits. */
export function newCode(): string {
  let code = '';
  while (code.length < LENGTH) {
    const [byte = 255] = crypto.getRandomValues(new Uint8Array(1));
    if (byte < FAIR) code += ALPHABET.charAt(byte % ALPHABET.length);
  }
  return code;
}

/** The code as it was made, whatever the case, hyphens and spaces in which a person types it. */
export const canonicalCode = (typed: string): string => typed.replaceAll(/[-\s]/g, '').toUpperCase();

/** Whether two texts are the same, in a time that depends on their length alone. */
export function isSameText(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let at = 0; at < a.length; at++) difference |= a.charCodeAt(at) ^ b.charCodeAt(at);
  return difference === 0;
}
