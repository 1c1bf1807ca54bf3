import { ByteReader, ByteWriter } from './bytes.ts';

/** A term of a segment, with the position of its postings in the segment's stream. */
export interface TermEntry {
  term: string;
  /** Number of documents with the term. */
  count: number;
  start: number;
  length: number;
  /** Number of postings of the segment before its first one. */
  before: number;
}

/** Writes one page of a segment's dictionary: sorted terms, each encoded by its difference from the previous one. */
export class DictionaryPage {
  readonly #bytes = new ByteWriter();
  #last = '';
  #entries = 0;

  /** `start`: position of the postings of its first term. `before`: number of postings before that. */
  constructor(start: number, before: number) {
    this.#bytes.number(start);
    this.#bytes.number(before);
  }

  get size(): number {
    return this.#entries === 0 ? 0 : this.#bytes.length;
  }

  add(term: string, count: number, length: number): void {
    let shared = 0;
    while (shared < this.#last.length && term.charCodeAt(shared) === this.#last.charCodeAt(shared)) shared++;
    this.#bytes.number(shared);
    this.#bytes.number(term.length - shared);
    for (let i = shared; i < term.length; i++) this.#bytes.number(term.charCodeAt(i));
    this.#bytes.number(count);
    this.#bytes.number(length);
    this.#last = term;
    this.#entries++;
  }

  bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice();
  }
}

/** Iterates over the terms of a page, in order; stops early if `found` returns false. */
export function eachEntry(page: Uint8Array, found: (entry: TermEntry) => boolean | void): void {
  const reader = new ByteReader(page);
  let start = reader.number();
  let before = reader.number();
  let last = '';
  while (reader.more) {
    let term = last.slice(0, reader.number());
    for (let left = reader.number(); left > 0; left--) term += String.fromCharCode(reader.number());
    const count = reader.number();
    const length = reader.number();
    if (found({ term, count, start, length, before }) === false) return;
    start += length;
    before += count;
    last = term;
  }
}
