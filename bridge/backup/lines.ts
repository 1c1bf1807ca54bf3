import { BackupUnusable } from './format.ts';

/** Splits streamed UTF-8 bytes into lines. Searches each byte for the line's end only once. */
export class Lines {
  readonly #line: (line: string) => void;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #rest: string[] = [];

  constructor(line: (line: string) => void) {
    this.#line = line;
  }

  add(bytes: Uint8Array): void {
    const [first = '', ...others] = this.#decode(bytes).split('\n');
    this.#rest.push(first);
    for (const next of others) {
      this.#line(this.#rest.join(''));
      this.#rest = [next];
    }
  }

  /** Requires that the last line is terminated. */
  end(): void {
    this.#rest.push(this.#decode());
    if (this.#rest.join('') !== '') throw new BackupUnusable('the last line is incomplete');
  }

  #decode(bytes?: Uint8Array): string {
    try {
      return this.#decoder.decode(bytes, { stream: bytes !== undefined });
    } catch (error) {
      throw new BackupUnusable('it contains text that is not UTF-8', { cause: error });
    }
  }
}
