import { Breath, SLICE } from '../documents/breath.ts';
import type { FetchInit } from '../fetch.ts';

const encoder = new TextEncoder();

/**
 * Serializes a body as JSON. A large body is written item by item of its lists, yielding to other tasks, and returned as bytes: megabytes
 * of a long conversation take tens of milliseconds. Rejects with the reason of `signal`.
 */
export async function jsonBody(body: object, signal: AbortSignal): Promise<Pick<FetchInit, 'body' | 'bytes'>> {
  const breath = new Breath(signal);
  const pieces: string[] = [];
  let length = 0;
  for (const piece of piecesOf(body)) {
    pieces.push(piece);
    length += piece.length;
    await breath.after(piece.length);
  }
  if (length < SLICE) return { body: pieces.join('') };
  // UTF-8 uses at most three bytes per UTF-16 code unit.
  let bytes = new Uint8Array(length + SLICE);
  let written = 0;
  for (const piece of pieces) {
    for (let from = 0; from < piece.length;) {
      const slice = piece.slice(from, from + SLICE);
      if (bytes.length - written < slice.length * 3) bytes = grown(bytes, written + slice.length * 3);
      // A high surrogate at the end waits for its low surrogate.
      const whole = slice.length > 1 && isHalf(slice) && from + SLICE < piece.length ? slice.slice(0, -1) : slice;
      written += encoder.encodeInto(whole, bytes.subarray(written)).written;
      from += whole.length;
      await breath.after(whole.length);
    }
  }
  return { bytes: bytes.subarray(0, written) };
}

function* piecesOf(body: object): Generator<string> {
  let before = '{';
  for (const [key, value] of Object.entries(body) as [string, unknown][]) {
    if (value === undefined) continue;
    const name = `${before}${JSON.stringify(key)}:`;
    before = ',';
    if (!Array.isArray(value)) yield name + JSON.stringify(value);
    else if (value.length === 0) yield `${name}[]`;
    else
      for (const [nth, item] of value.entries())
        yield `${nth === 0 ? `${name}[` : ','}${JSON.stringify(item ?? null)}${nth === value.length - 1 ? ']' : ''}`;
  }
  yield before === '{' ? '{}' : '}';
}

const isHalf = (text: string): boolean => /[\ud800-\udbff]$/.test(text);

function grown(bytes: Uint8Array<ArrayBuffer>, least: number): Uint8Array<ArrayBuffer> {
  const more = new Uint8Array(Math.max(least, Math.ceil(bytes.length * 1.5)));
  more.set(bytes);
  return more;
}
