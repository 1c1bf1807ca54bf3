/** Bytes to a string of characters at a time: a call takes only so many arguments. */
const SLICE = 0x8000;

/** The bytes of base64 or base64url, padded or not. Throws where the text is neither. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = new Uint8Array(binary.length);
  // A plain loop: `Uint8Array.from` with a function takes some fifty times as long, a second for a large attachment.
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

export function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += SLICE) text += String.fromCharCode(...bytes.subarray(at, at + SLICE));
  return btoa(text);
}

export const toBase64url = (bytes: Uint8Array): string => toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
