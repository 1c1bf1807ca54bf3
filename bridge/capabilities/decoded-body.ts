import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

const DECODERS = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** Value of `Accept-Encoding`. */
export const ACCEPTED_ENCODINGS = 'gzip, deflate, br';

/** Decompresses a response's body. An error on either side destroys both, and is emitted on the result. */
export function decodeBody({ body, headers }: { body: Readable; headers: Record<string, string | string[] | undefined> }): Readable {
  const decoder = DECODERS.get(String(headers['content-encoding']).toLowerCase())?.();
  return decoder ? pipeline(body, decoder, () => {}) : body;
}
