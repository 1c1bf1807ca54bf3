import { StringDecoder } from 'node:string_decoder';

/** Characters that go out at once, and how long fewer may wait for more: a program that writes byte by byte makes no event of each. */
const CHUNK_CHARS = 16 * 1024;
const WAIT_MS = 40;

/** One of a command's two outputs, as text: sent on in pieces, up to a limit, and read without end. */
export class Output {
  truncated = false;
  readonly #decoder = new StringDecoder('utf8');
  readonly #send: (text: string) => void;
  #left: number;
  #text = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(maxBytes: number, send: (text: string) => void) {
    this.#left = maxBytes;
    this.#send = send;
  }

  write(bytes: Buffer): void {
    if (bytes.byteLength > this.#left) this.truncated = true;
    if (this.#left === 0) return;
    this.#text += this.#decoder.write(bytes.subarray(0, this.#left));
    this.#left -= Math.min(this.#left, bytes.byteLength);
    if (this.#text.length >= CHUNK_CHARS || this.#left === 0) return this.#flush();
    this.#timer ??= setTimeout(() => this.#flush(), WAIT_MS);
  }

  /** Sends what is left. A character that was cut off in its middle becomes U+FFFD, unless it was cut off here. */
  end(): void {
    if (!this.truncated) this.#text += this.#decoder.end();
    this.#flush();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (let at = 0; at < this.#text.length; at += CHUNK_CHARS) this.#send(this.#text.slice(at, at + CHUNK_CHARS));
    this.#text = '';
  }
}
