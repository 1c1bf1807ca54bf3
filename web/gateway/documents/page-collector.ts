import type { DocumentText } from './document-reader.ts';
import { formatNumberRanges } from './number-ranges.ts';

/**
 * Collects text of pages or slides until a result is full: further ones completely or not at all, the first one partially if it exceeds the
 * limit alone.
 */
export class PageCollector {
  readonly included: number[] = [];
  text = '';
  next: DocumentText['next'];
  readonly #requested: readonly number[];
  readonly #offset: number;
  readonly #limit: number;

  /** `offset`: characters to skip of the first page; `limit`: maximum length of the result. */
  constructor(requested: readonly number[], { offset = 0, limit }: { offset?: number | undefined; limit: number }) {
    this.#requested = requested;
    this.#offset = offset;
    this.#limit = limit;
  }

  /** Leaves the remaining pages for the next request. */
  stop(): void {
    const remaining = this.#requested.slice(this.included.length);
    if (!this.next && remaining.length > 0) this.next = { pages: formatNumberRanges(remaining) };
  }

  /** Adds the next wanted page; false if there is no room for another one. */
  add(block: string): boolean {
    const number = this.#requested[this.included.length];
    if (number === undefined) return false;
    const first = this.included.length === 0;
    if (!first && this.text.length + block.length > this.#limit) {
      this.next = { pages: formatNumberRanges(this.#requested.slice(this.included.length)) };
      return false;
    }
    this.included.push(number);
    const remaining = first ? block.slice(this.#offset) : block;
    this.text += `${first ? '' : '\n\n'}${remaining.slice(0, this.#limit)}`;
    if (remaining.length <= this.#limit) return true;
    this.next = { pages: formatNumberRanges(this.#requested), offset: this.#offset + this.#limit };
    return false;
  }
}
