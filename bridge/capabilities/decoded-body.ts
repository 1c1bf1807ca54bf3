import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

const DECODERS = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** What a request says that it takes. */
export const ACCEPTED_ENCODINGS = 'gzip, deflate, br';

/** The body of an answer, unpacked. A failure on either side destroys both, and shows on the result. */
export function decodedBody({ body, headers }: { body: Readable; headers: Record<string, string | string[] | undefined> }): Readable {
  const decoder = DECODERS.get(String(headers['content-encoding']).toLowerCase())?.();
  return decoder ? pipeline(body, decoder, () => {}) : body;
}
