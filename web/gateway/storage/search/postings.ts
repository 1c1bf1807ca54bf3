import { ByteReader, ByteWriter } from './bytes.ts';

/** The documents of a segment that have a term, in their order, each with how often it has it: as distances, with the commonest count, 1, in the same byte. */
export class PostingsWriter {
  readonly bytes = new ByteWriter();
  /** Documents so far. */
  count = 0;
  #last = -1;

  /** `doc` is higher than every one before. */
  add(doc: number, times: number): void {
    const distance = doc - this.#last;
    this.#last = doc;
    this.count++;
    if (times === 1) this.bytes.number(distance * 2 + 1);
    else {
      this.bytes.number(distance * 2);
      this.bytes.number(times);
    }
  }

  clear(): void {
    this.bytes.clear();
    this.count = 0;
    this.#last = -1;
  }
}

/** Postings laid open: `docs` in their order, `times` how often each has the term. Good until the next call. */
export interface Postings {
  docs: Uint32Array;
  times: Uint16Array;
  /** How many there are; the arrays may be longer. */
  count: number;
}

// Kept from call to call: a search opens a million of them.
let scratch: Postings = { docs: new Uint32Array(0), times: new Uint16Array(0), count: 0 };

export function openPostings(bytes: Uint8Array): Postings {
  // Each takes a byte at least.
  if (scratch.docs.length < bytes.length) {
    scratch = { docs: new Uint32Array(2 * bytes.length), times: new Uint16Array(2 * bytes.length), count: 0 };
  }
  const { docs, times } = scratch;
  const reader = new ByteReader(bytes);
  let doc = -1;
  let count = 0;
  while (reader.more) {
    const head = reader.number();
    doc += head >>> 1;
    docs[count] = doc;
    times[count++] = head & 1 ? 1 : reader.number();
  }
  scratch.count = count;
  return scratch;
}
