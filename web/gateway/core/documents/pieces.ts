/** A growing text with quick access to its end: inspecting a long string after each append would copy it each time. */
export class Pieces {
  readonly #parts: string[] = [];
  /** The last two characters. */
  tail = '';

  add(text: string): void {
    if (text === '') return;
    this.#parts.push(text);
    this.tail = (this.tail + text).slice(-2);
  }

  toString(): string {
    return this.#parts.join('');
  }
}
