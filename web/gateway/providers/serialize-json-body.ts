import { TimeSlicer, SLICE_SIZE } from '#shared/async/time-slicer.ts';
import type { FetchInit } from '../ports/fetch.ts';

const encoder = new TextEncoder();

/**
 * Serializes a body as JSON. A large body is written item by item of its lists, yielding to other tasks, and returned as bytes: megabytes
 * of a long conversation take tens of milliseconds. Rejects with the reason of `signal`.
 */
export async function serializeJsonBody(body: object, signal: AbortSignal): Promise<Pick<FetchInit, 'body' | 'bytes'>> {
  const slicer = new TimeSlicer(signal);
  const pieces: string[] = [];
  let length = 0;
  for (const piece of toPieces(body)) {
    pieces.push(piece);
    length += piece.length;
    await slicer.after(piece.length);
  }
  if (length < SLICE_SIZE) return { body: pieces.join('') };
  // UTF-8 uses at most three bytes per UTF-16 code unit.
  let bytes = new Uint8Array(length + SLICE_SIZE);
  let byteLength = 0;
  for (const piece of pieces) {
    for (let from = 0; from < piece.length;) {
      const slice = piece.slice(from, from + SLICE_SIZE);
      if (bytes.length - byteLength < slice.length * 3) bytes = growBuffer(bytes, byteLength + slice.length * 3);
      // A high surrogate at the end waits for its low surrogate.
      const completeSlice = slice.length > 1 && endsInSurrogate(slice) && from + SLICE_SIZE < piece.length ? slice.slice(0, -1) : slice;
      byteLength += encoder.encodeInto(completeSlice, bytes.subarray(byteLength)).written;
      from += completeSlice.length;
      await slicer.after(completeSlice.length);
    }
  }
  return { bytes: bytes.subarray(0, byteLength) };
}

function* toPieces(body: object): Generator<string> {
  let before = '{';
  for (const [key, value] of Object.entries(body) as [string, unknown][]) {
    if (value === undefined) continue;
    const name = `${before}${JSON.stringify(key)}:`;
    before = ',';
    if (!Array.isArray(value)) yield name + JSON.stringify(value);
    else if (value.length === 0) yield `${name}[]`;
    else
      for (const [index, item] of value.entries())
        yield `${index === 0 ? `${name}[` : ','}${JSON.stringify(item ?? null)}${index === value.length - 1 ? ']' : ''}`;
  }
  yield before === '{' ? '{}' : '}';
}

const endsInSurrogate = (text: string): boolean => /[\ud800-\udbff]$/.test(text);

function growBuffer(bytes: Uint8Array<ArrayBuffer>, minLength: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(minLength, Math.ceil(bytes.length * 1.5)));
  larger.set(bytes);
  return larger;
}
