/** A growing text with quick access to its end: inspecting a long string after each append would copy it each time. */
export class StringBuilder {
  readonly #chunks: string[] = [];
  /** The last two characters. */
  tail = '';

  append(text: string): void {
    if (text === '') return;
    this.#chunks.push(text);
    this.tail = (this.tail + text).slice(-2);
  }

  toString(): string {
    return this.#chunks.join('');
  }
}
