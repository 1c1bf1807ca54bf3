const MAX_STATE_BYTES = 64 * 1024;

/**
 * Reads a host's messages to the bridge itself on a client's stream. They are binary: an empty one announces that the host wants to hand
 * the client over; then comes the client's state for the next host (shared/link/text-link.ts).
 */
export class HandoffReader {
  /** State for the next host, once received. */
  state: string | undefined;
  readonly #onleave: () => void;
  #isRequested = false;
  #parts: Uint8Array[] = [];
  #size = 0;

  constructor(onleave: () => void) {
    this.#onleave = onleave;
  }

  /** Reads a chunk of such a message. The bytes are only valid during the call. */
  read(chunk: Uint8Array, fin: boolean): void {
    this.#size += chunk.byteLength;
    if (this.#size > MAX_STATE_BYTES) throw new RangeError('the host sent too much state for a client');
    this.#parts.push(chunk.slice());
    if (!fin) return;
    if (!this.#isRequested) {
      this.#isRequested = true;
      this.#onleave();
    } else this.state = Buffer.concat(this.#parts).toString();
    this.#parts = [];
  }
}
