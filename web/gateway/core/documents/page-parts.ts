import type { DocumentText } from './documents.ts';
import { numbersText } from './numbers.ts';

/**
 * Collects text of pages or slides until a result is full: further ones completely or not at all, the first one partially if it exceeds the
 * limit alone.
 */
export class PageParts {
  readonly shown: number[] = [];
  text = '';
  next: DocumentText['next'];
  readonly #wanted: readonly number[];
  readonly #offset: number;
  readonly #limit: number;

  /** `offset`: characters to skip of the first page; `limit`: maximum length of the result. */
  constructor(wanted: readonly number[], { offset = 0, limit }: { offset?: number | undefined; limit: number }) {
    this.#wanted = wanted;
    this.#offset = offset;
    this.#limit = limit;
  }

  /** Leaves the remaining pages for the next request. */
  stop(): void {
    const rest = this.#wanted.slice(this.shown.length);
    if (!this.next && rest.length > 0) this.next = { pages: numbersText(rest) };
  }

  /** Adds the next wanted page; false if there is no room for another one. */
  add(block: string): boolean {
    const number = this.#wanted[this.shown.length];
    if (number === undefined) return false;
    const first = this.shown.length === 0;
    if (!first && this.text.length + block.length > this.#limit) {
      this.next = { pages: numbersText(this.#wanted.slice(this.shown.length)) };
      return false;
    }
    this.shown.push(number);
    const rest = first ? block.slice(this.#offset) : block;
    this.text += `${first ? '' : '\n\n'}${rest.slice(0, this.#limit)}`;
    if (rest.length <= this.#limit) return true;
    this.next = { pages: numbersText(this.#wanted), offset: this.#offset + this.#limit };
    return false;
  }
}
