import type { BodyEdit } from '#shared/link/splice.ts';

/** Applies edits to a body; undefined if they do not fit. */
export function applyByteEdits(body: Buffer | undefined, edits: readonly BodyEdit[]): Buffer | undefined {
  if (!body) return undefined;
  const chunks: Buffer[] = [];
  let offset = 0;
  for (const { at, drop, put } of edits) {
    if (at < offset || at + drop > body.byteLength) return undefined;
    chunks.push(body.subarray(offset, at), Buffer.from(put));
    offset = at + drop;
  }
  return Buffer.concat([...chunks, body.subarray(offset)]);
}
