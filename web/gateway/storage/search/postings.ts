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

export function eachPosting(bytes: Uint8Array, found: (doc: number, times: number) => void): void {
  const reader = new ByteReader(bytes);
  let doc = -1;
  while (reader.more) {
    const head = reader.number();
    doc += head >>> 1;
    found(doc, head & 1 ? 1 : reader.number());
  }
}
