import { StringDecoder } from 'node:string_decoder';

/**
 * Number of characters that are sent immediately, and how long fewer may wait, so that a program that writes single bytes does not cause an
 * event for each.
 */
const CHUNK_CHARS = 16 * 1024;
const FLUSH_MS = 40;

/** A command's standard output or error as text: sent in chunks up to a limit, and read to the end. */
export class CommandOutput {
  truncated = false;
  readonly #decoder = new StringDecoder('utf8');
  readonly #send: (text: string) => void;
  #remainingBytes: number;
  #text = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(maxBytes: number, send: (text: string) => void) {
    this.#remainingBytes = maxBytes;
    this.#send = send;
  }

  write(bytes: Buffer): void {
    if (bytes.byteLength > this.#remainingBytes) this.truncated = true;
    if (this.#remainingBytes === 0) return;
    this.#text += this.#decoder.write(bytes.subarray(0, this.#remainingBytes));
    this.#remainingBytes -= Math.min(this.#remainingBytes, bytes.byteLength);
    if (this.#text.length >= CHUNK_CHARS || this.#remainingBytes === 0) return this.#flush();
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS);
  }

  /** Sends the rest. An incomplete character becomes U+FFFD, unless it was cut by the limit. */
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
