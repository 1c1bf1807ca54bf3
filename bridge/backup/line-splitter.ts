import { InvalidBackupError } from './backup-format.ts';

/** Splits streamed UTF-8 bytes into lines. Searches each byte for the line's end only once. */
export class LineSplitter {
  readonly #onLine: (line: string) => void;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #partialLine: string[] = [];

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  add(bytes: Uint8Array): void {
    const [first = '', ...others] = this.#decode(bytes).split('\n');
    this.#partialLine.push(first);
    for (const next of others) {
      this.#onLine(this.#partialLine.join(''));
      this.#partialLine = [next];
    }
  }

  /** Requires that the last line is terminated. */
  end(): void {
    this.#partialLine.push(this.#decode());
    if (this.#partialLine.join('') !== '') throw new InvalidBackupError('the last line is incomplete');
  }

  #decode(bytes?: Uint8Array): string {
    try {
      return this.#decoder.decode(bytes, { stream: bytes !== undefined });
    } catch (error) {
      throw new InvalidBackupError('it contains text that is not UTF-8', { cause: error });
    }
  }
}
