import type { Edit } from '#shared/link/splice.ts';

/** Applies edits to a body; undefined if they do not fit. */
export function edited(body: Buffer | undefined, edits: readonly Edit[]): Buffer | undefined {
  if (!body) return undefined;
  const parts: Buffer[] = [];
  let done = 0;
  for (const { at, drop, put } of edits) {
    if (at < done || at + drop > body.byteLength) return undefined;
    parts.push(body.subarray(done, at), Buffer.from(put));
    done = at + drop;
  }
  return Buffer.concat([...parts, body.subarray(done)]);
}
