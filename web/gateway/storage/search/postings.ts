import type { Postings } from '../../knowledge/search/term-index.ts';
import { ByteReader, ByteWriter } from './byte-buffer.ts';

/**
 * Encodes the documents of a segment with a term, in order, each with its number of occurrences: as differences, with the most common
 * count, 1, in the same byte.
 */
export class PostingsWriter {
  readonly bytes = new ByteWriter();
  /** Number of documents so far. */
  count = 0;
  #last = -1;

  /** `doc` must be greater than all previous ones. */
  add(doc: number, times: number): void {
    const distance = doc - this.#last;
    this.#last = doc;
    this.count++;
    if (times === 1) this.bytes.writeNumber(distance * 2 + 1);
    else {
      this.bytes.writeNumber(distance * 2);
      this.bytes.writeNumber(times);
    }
  }

  clear(): void {
    this.bytes.clear();
    this.count = 0;
    this.#last = -1;
  }
}

// Reused between calls: a search decodes a million of them.
let scratchPostings = { docs: new Uint32Array(0), times: new Uint16Array(0), count: 0 };

/** Decoded postings, valid until the next call. */
export function decodePostings(bytes: Uint8Array): Postings {
  // Each posting takes at least one byte.
  if (scratchPostings.docs.length < bytes.length) {
    scratchPostings = { docs: new Uint32Array(2 * bytes.length), times: new Uint16Array(2 * bytes.length), count: 0 };
  }
  const { docs, times } = scratchPostings;
  const reader = new ByteReader(bytes);
  let doc = -1;
  let count = 0;
  while (reader.hasMore) {
    const head = reader.readNumber();
    doc += head >>> 1;
    docs[count] = doc;
    times[count++] = head & 1 ? 1 : reader.readNumber();
  }
  scratchPostings.count = count;
  return scratchPostings;
}
