const encoder = new TextEncoder();

/** HMAC with SHA-256 over the parts, one after another. Texts are in UTF-8. */
export async function computeHmac(
  key: string | Uint8Array<ArrayBuffer>,
  ...parts: readonly (string | Uint8Array)[]
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = parts.map((part) => (typeof part === 'string' ? encoder.encode(part) : part));
  const data = new Uint8Array(bytes.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let offset = 0;
  for (const part of bytes) {
    data.set(part, offset);
    offset += part.byteLength;
  }
  const raw = typeof key === 'string' ? encoder.encode(key) : key;
  const imported = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, data));
}

export const toHex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
