import type { TimeSlicer } from '#shared/async/time-slicer.ts';
import { createBytes as someBytes, growColumn } from './grow-column.ts';

/** Number of strings after which building the hash table yields. */
const HASH_CHUNK = 1024;
/** Number of characters decoded at once. */
const DECODE_CHUNK = 4096;

/** Chains of strings by hash. */
interface HashTable {
  first: Int32Array;
  next: Int32Array;
}

/**
 * Strings in a byte array, decoded on access: separate string objects would take several times the memory. A string takes one byte per
 * character if all of them fit, else two, so that every string is restored exactly, lone surrogates included.
 */
export class StringColumn {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  /** End of each string times two, plus 1 if its characters take two bytes. */
  readonly #ends: Uint32Array<ArrayBuffer>;
  #hashTable: HashTable | undefined;

  constructor(bytes: Uint8Array<ArrayBuffer>, ends: Uint32Array<ArrayBuffer>) {
    [this.#bytes, this.#ends] = [bytes, ends];
  }

  get length(): number {
    return this.#ends.length;
  }

  at(number: number): string {
    const { bytes, wide } = this.raw(number);
    const units = wide ? wideUnits(bytes) : bytes;
    if (units.length <= DECODE_CHUNK) return String.fromCharCode(...units);
    let text = '';
    for (let from = 0; from < units.length; from += DECODE_CHUNK) text += String.fromCharCode(...units.subarray(from, from + DECODE_CHUNK));
    return text;
  }

  /** The bytes of a string, undecoded. */
  raw(number: number): { bytes: Uint8Array<ArrayBuffer>; wide: boolean } {
    const from = number === 0 ? 0 : (this.#ends[number - 1] ?? 0) >>> 1;
    const end = this.#ends[number] ?? 0;
    return { bytes: this.#bytes.subarray(from, end >>> 1), wide: (end & 1) === 1 };
  }

  /** Whether a string sorts before a text. Decodes nothing. */
  isBefore(number: number, text: string): boolean {
    const { bytes, wide } = this.raw(number);
    const length = wide ? bytes.length >> 1 : bytes.length;
    for (let index = 0; index < length; index++) {
      const unit = wide ? (bytes[2 * index] ?? 0) | ((bytes[2 * index + 1] ?? 0) << 8) : (bytes[index] ?? 0);
      // NaN at the end of the text, which then comes first.
      const other = text.charCodeAt(index);
      if (unit !== other) return unit < other;
    }
    return length < text.length;
  }

  /** Index of a string accepted by `accepts`; -1 if there is none. */
  find(text: string, accepts: (number: number) => boolean = () => true): number {
    const { first, next } = (this.#hashTable ??= this.#buildHashTable());
    for (let number = first[hashText(text) & (first.length - 1)] ?? -1; number !== -1; number = next[number] ?? -1)
      if (accepts(number) && this.at(number) === text) return number;
    return -1;
  }

  /** Builds the table that `find` needs in slices; otherwise the first call builds it in one piece. */
  async prepare(slicer: TimeSlicer): Promise<void> {
    const hashing = this.#hashStrings();
    for (let step = hashing.next(); this.#hashTable === undefined; step = hashing.next()) {
      if (step.done === true) this.#hashTable = step.value;
      else await slicer.after(HASH_CHUNK);
    }
  }

  #buildHashTable(): HashTable {
    const hashing = this.#hashStrings();
    for (;;) {
      const { done, value } = hashing.next();
      if (done === true) return value;
    }
  }

  /** Yields after each chunk, and returns the table. */
  *#hashStrings(): Generator<undefined, HashTable> {
    let size = 16;
    while (size < 2 * this.length) size *= 2;
    const [first, next] = [new Int32Array(size).fill(-1), new Int32Array(this.length)];
    const [bytes, ends] = [this.#bytes, this.#ends];
    for (let number = this.length - 1; number >= 0; number--) {
      const [from, end] = [number === 0 ? 0 : (ends[number - 1] ?? 0) >>> 1, ends[number] ?? 0];
      let hash = SEED;
      if ((end & 1) === 1)
        for (let at = from; at < end >>> 1; at += 2) hash = mixHash(hash, (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8));
      else for (let at = from; at < end >>> 1; at++) hash = mixHash(hash, bytes[at] ?? 0);
      const slot = finishHash(hash) & (size - 1);
      next[number] = first[slot] ?? -1;
      first[slot] = number;
      if (number % HASH_CHUNK === 0) yield;
    }
    return { first, next };
  }
}

/** Builds a column string by string. */
export class StringWriter {
  #bytes = new Uint8Array(1024);
  #end = 0;
  readonly #ends: number[] = [];

  /** Returns the index of the string. */
  add(text: string): number {
    let isWide = false;
    for (let index = 0; index < text.length && !isWide; index++) isWide = text.charCodeAt(index) > 0xff;
    const from = this.#reserve((isWide ? 2 : 1) * text.length);
    if (isWide) {
      for (let index = 0; index < text.length; index++) {
        const unit = text.charCodeAt(index);
        this.#bytes[from + 2 * index] = unit & 0xff;
        this.#bytes[from + 2 * index + 1] = unit >>> 8;
      }
    } else for (let index = 0; index < text.length; index++) this.#bytes[from + index] = text.charCodeAt(index);
    return this.#endString(isWide);
  }

  /** Copies a string of another column without decoding it. */
  copy(column: StringColumn, number: number): number {
    const { bytes, wide } = column.raw(number);
    const from = this.#reserve(bytes.length);
    this.#bytes.set(bytes, from);
    return this.#endString(wide);
  }

  finish(): { bytes: Uint8Array<ArrayBuffer>; ends: Uint32Array<ArrayBuffer> } {
    return { bytes: this.#bytes.subarray(0, this.#end), ends: Uint32Array.from(this.#ends) };
  }

  #reserve(length: number): number {
    const from = this.#end;
    this.#end += length;
    this.#bytes = growColumn(this.#bytes, someBytes, this.#end);
    return from;
  }

  #endString(isWide: boolean): number {
    return this.#ends.push(((this.#end << 1) | Number(isWide)) >>> 0) - 1;
  }
}

function wideUnits(bytes: Uint8Array): Uint16Array {
  const units = new Uint16Array(bytes.length / 2);
  for (let index = 0; index < units.length; index++) units[index] = (bytes[2 * index] ?? 0) | ((bytes[2 * index + 1] ?? 0) << 8);
  return units;
}

/** FNV-1a over the characters, with the upper bits mixed into the lower ones. */
const SEED = 0x811c9dc5;
const mixHash = (hash: number, unit: number): number => Math.imul(hash ^ unit, 0x01000193);
const finishHash = (hash: number): number => hash ^ (hash >>> 15);

export function hashText(text: string): number {
  let hash = SEED;
  for (let index = 0; index < text.length; index++) hash = mixHash(hash, text.charCodeAt(index));
  return finishHash(hash);
}
