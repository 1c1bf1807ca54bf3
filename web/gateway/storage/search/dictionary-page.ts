import { ByteReader, ByteWriter } from './byte-buffer.ts';

/** A term of a segment, with the position of its postings in the segment's stream. */
export interface DictionaryTerm {
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
    this.#bytes.writeNumber(start);
    this.#bytes.writeNumber(before);
  }

  get size(): number {
    return this.#entries === 0 ? 0 : this.#bytes.length;
  }

  add(term: string, count: number, length: number): void {
    let shared = 0;
    while (shared < this.#last.length && term.charCodeAt(shared) === this.#last.charCodeAt(shared)) shared++;
    this.#bytes.writeNumber(shared);
    this.#bytes.writeNumber(term.length - shared);
    for (let i = shared; i < term.length; i++) this.#bytes.writeNumber(term.charCodeAt(i));
    this.#bytes.writeNumber(count);
    this.#bytes.writeNumber(length);
    this.#last = term;
    this.#entries++;
  }

  bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice();
  }
}

/** Iterates over the terms of a page, in order; stops early if `onTerm` returns false. */
export function forEachTerm(page: Uint8Array, onTerm: (entry: DictionaryTerm) => boolean | void): void {
  const reader = new ByteReader(page);
  let start = reader.readNumber();
  let before = reader.readNumber();
  let last = '';
  while (reader.hasMore) {
    let term = last.slice(0, reader.readNumber());
    for (let remaining = reader.readNumber(); remaining > 0; remaining--) term += String.fromCharCode(reader.readNumber());
    const count = reader.readNumber();
    const length = reader.readNumber();
    if (onTerm({ term, count, start, length, before }) === false) return;
    start += length;
    before += count;
    last = term;
  }
}
