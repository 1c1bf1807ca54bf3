/** Digits and capitals that are not easily confused: no 0 and O, no 1, I and L. */
const ALPHABET = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';
const CODE_LENGTH = 8;
/** Larger bytes would make some characters more likely than others. */
const UNBIASED_LIMIT = 256 - (256 % ALPHABET.length);

/** A new pairing code: 8 uniformly random characters, 39 bits. */
export function createPairingCode(): string {
  let code = '';
  while (code.length < CODE_LENGTH) {
    const [byte = 255] = crypto.getRandomValues(new Uint8Array(1));
    if (byte < UNBIASED_LIMIT) code += ALPHABET.charAt(byte % ALPHABET.length);
  }
  return code;
}

/** Normalizes a typed code: ignores case, hyphens and spaces. */
export const normalizePairingCode = (typed: string): string => typed.replaceAll(/[-\s]/g, '').toUpperCase();

/** Compares two texts in a time that depends on their length only. */
export function isEqualConstantTime(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let index = 0; index < a.length; index++) difference |= a.charCodeAt(index) ^ b.charCodeAt(index);
  return difference === 0;
}
