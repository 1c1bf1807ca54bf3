const MAX_STATE = 64 * 1024;

/**
 * What a host says to the bridge itself on a client's stream, in binary messages: an empty one, that it wants to let the client go; then what the next host must know
 * of the client (shared/link/text-link.ts).
 */
export class HostWords {
  /** Once it has been said. */
  state: string | undefined;
  readonly #onleave: () => void;
  #asked = false;
  #parts: Uint8Array[] = [];
  #size = 0;

  constructor(onleave: () => void) {
    this.#onleave = onleave;
  }

  /** A chunk of such a message; the bytes are only valid during the call. */
  read(chunk: Uint8Array, fin: boolean): void {
    this.#size += chunk.byteLength;
    if (this.#size > MAX_STATE) throw new RangeError('the host sent too much state for a client');
    this.#parts.push(chunk.slice());
    if (!fin) return;
    if (!this.#asked) {
      this.#asked = true;
      this.#onleave();
    } else this.state = Buffer.concat(this.#parts).toString();
    this.#parts = [];
  }
}
