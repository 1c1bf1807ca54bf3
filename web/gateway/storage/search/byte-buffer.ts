/** A growing byte buffer that writes numbers in as few bytes as they need: seven bits each, lowest first. */
export class ByteWriter {
  #bytes = new Uint8Array(64);
  length = 0;

  writeNumber(value: number): void {
    if (this.length + 5 > this.#bytes.length) this.#grow(5);
    let remaining = value;
    while (remaining > 0x7f) {
      this.#bytes[this.length++] = (remaining & 0x7f) | 0x80;
      remaining >>>= 7;
    }
    this.#bytes[this.length++] = remaining;
  }

  writeByte(value: number): void {
    if (this.length === this.#bytes.length) this.#grow(1);
    this.#bytes[this.length++] = value;
  }

  append(bytes: Uint8Array): void {
    if (this.length + bytes.length > this.#bytes.length) this.#grow(bytes.length);
    this.#bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** A copy of the bytes from `from` to `to`. */
  slice(from = 0, to = this.length): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(from, Math.min(to, this.length));
  }

  /** Written bytes; valid until the next write. */
  view(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
  }

  /** Removes the first bytes. */
  shift(count: number): void {
    this.#bytes.copyWithin(0, count, this.length);
    this.length -= count;
  }

  #grow(minBytes: number): void {
    const larger = new Uint8Array(Math.max(2 * this.#bytes.length, this.length + minBytes));
    larger.set(this.#bytes.subarray(0, this.length));
    this.#bytes = larger;
  }
}

/** Reads the format of `ByteWriter`. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get hasMore(): boolean {
    return this.at < this.#bytes.length;
  }

  readNumber(): number {
    const bytes = this.#bytes;
    let byte = bytes[this.at++] ?? 0;
    let value = byte & 0x7f;
    for (let shift = 7; byte > 0x7f; shift += 7) {
      byte = bytes[this.at++] ?? 0;
      value |= (byte & 0x7f) << shift;
    }
    return value >>> 0;
  }
}
