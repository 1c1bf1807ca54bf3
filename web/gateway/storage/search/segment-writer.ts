import type { SearchPage, SegmentRow } from '../vault-schema.ts';
import { ByteWriter } from './byte-buffer.ts';
import { DictionaryPage } from './dictionary-page.ts';
import { DOCS_PER_PAGE, type DocRow, packDocs, packIds, POSTINGS_PAGE_BYTES, TERMS_PAGE_BYTES } from './segment-layout.ts';
import { SEGMENT_PART, type SegmentPart } from './search-pages.ts';
import type { PostingsWriter } from './postings.ts';

/** Number of bytes written at a time. */
const BATCH_BYTES = 256 * 1024;
/** Number of session keys per page. */
const SESSIONS_PER_PAGE = 500;

/**
 * Writes the pages of a new segment as they fill: documents and terms in order. Nothing refers to them until the row returned by `finish`
 * is stored, so they may be written in any number of transactions.
 */
export class SegmentWriter {
  readonly #id: number;
  readonly #write: (pages: readonly SearchPage[]) => Promise<void>;
  #batch: SearchPage[] = [];
  #size = 0;
  readonly #counts = new Map<SegmentPart, number>();
  #docs: DocRow[] = [];
  #docCount = 0;
  readonly #sessions = new Map<string, number>();
  readonly #postings = new ByteWriter();
  readonly #follows = new ByteWriter();
  /** Start of the next term's postings, and the number of postings before it. */
  #start = 0;
  #termCount = 0;
  #dictionary = new DictionaryPage(0, 0);
  readonly #firstTerms: string[] = [];

  constructor(id: number, write: (pages: readonly SearchPage[]) => Promise<void>) {
    this.#id = id;
    this.#write = write;
  }

  /** Whether `flush` is due. */
  get isFull(): boolean {
    return this.#size >= BATCH_BYTES;
  }

  addDoc({ session, ...row }: Omit<DocRow, 'session'> & { session: string }): void {
    let number = this.#sessions.get(session);
    if (number === undefined) this.#sessions.set(session, (number = this.#sessions.size));
    this.#docs.push({ ...row, session: number });
    if (++this.#docCount % DOCS_PER_PAGE === 0) this.#writeDocsPage();
  }

  /** `addTerm` must sort after all previous ones. `follows`: a byte for each of its postings. */
  addTerm(term: string, { bytes, count }: PostingsWriter, follows: Uint8Array): void {
    if (this.#dictionary.size === 0) this.#firstTerms.push(term);
    this.#dictionary.add(term, count, bytes.length);
    this.#start += bytes.length;
    this.#termCount += count;
    this.#postings.append(bytes.view());
    this.#follows.append(follows);
    this.#writeFullPages(SEGMENT_PART.postings, this.#postings);
    this.#writeFullPages(SEGMENT_PART.follows, this.#follows);
    if (this.#dictionary.size >= TERMS_PAGE_BYTES) this.#writeDictionaryPage();
  }

  async flush(): Promise<void> {
    const batch = this.#batch;
    [this.#batch, this.#size] = [[], 0];
    if (batch.length > 0) await this.#write(batch);
  }

  /** Writes the remaining pages. `length`: number of terms in all documents. */
  async finish(length: number): Promise<SegmentRow> {
    if (this.#docs.length > 0) this.#writeDocsPage();
    if (this.#dictionary.size > 0) this.#writeDictionaryPage();
    if (this.#postings.length > 0) this.#writePage(SEGMENT_PART.postings, this.#postings.slice());
    if (this.#follows.length > 0) this.#writePage(SEGMENT_PART.follows, this.#follows.slice());
    const sessions = [...this.#sessions.keys()];
    for (let index = 0; index < sessions.length; index += SESSIONS_PER_PAGE)
      this.#writePage(SEGMENT_PART.sessions, sessions.slice(index, index + SESSIONS_PER_PAGE));
    await this.flush();
    return { id: this.#id, docs: this.#docCount, length, terms: this.#firstTerms };
  }

  #writeDocsPage(): void {
    this.#writePage(SEGMENT_PART.docs, packDocs(this.#docs));
    this.#writePage(SEGMENT_PART.ids, packIds(this.#docs.map(({ id }) => id)));
    this.#docs = [];
  }

  #writeFullPages(part: SegmentPart, stream: ByteWriter): void {
    if (stream.length < POSTINGS_PAGE_BYTES) return;
    let from = 0;
    for (; from + POSTINGS_PAGE_BYTES <= stream.length; from += POSTINGS_PAGE_BYTES)
      this.#writePage(part, stream.slice(from, from + POSTINGS_PAGE_BYTES));
    stream.shift(from);
  }

  #writeDictionaryPage(): void {
    this.#writePage(SEGMENT_PART.terms, this.#dictionary.bytes());
    this.#dictionary = new DictionaryPage(this.#start, this.#termCount);
  }

  #writePage(part: SegmentPart, data: SearchPage['data']): void {
    const page = this.#counts.get(part) ?? 0;
    this.#counts.set(part, page + 1);
    this.#batch.push({ segment: this.#id, part, page, data });
    this.#size += data instanceof Uint8Array ? data.length : 50 * data.length;
  }
}
