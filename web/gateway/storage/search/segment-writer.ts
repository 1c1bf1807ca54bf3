import type { SearchPage, SegmentRow } from '../schema.ts';
import { ByteWriter } from './bytes.ts';
import { DictionaryPage } from './dictionary.ts';
import { DOCS_PAGE, type DocRow, packDocs, packIds, POSTINGS_PAGE, TERMS_PAGE } from './layout.ts';
import { PART, type Part } from './pages.ts';
import type { PostingsWriter } from './postings.ts';

/** Number of bytes written at a time. */
const BATCH = 256 * 1024;
/** Number of session keys per page. */
const SESSIONS_PAGE = 500;

/**
 * Writes the pages of a new segment as they fill: documents and terms in order. Nothing refers to them until the row returned by `finish`
 * is stored, so they may be written in any number of transactions.
 */
export class SegmentWriter {
  readonly #id: number;
  readonly #write: (pages: readonly SearchPage[]) => Promise<void>;
  #batch: SearchPage[] = [];
  #size = 0;
  readonly #counts = new Map<Part, number>();
  #docs: DocRow[] = [];
  #docCount = 0;
  readonly #sessions = new Map<string, number>();
  readonly #postings = new ByteWriter();
  readonly #follows = new ByteWriter();
  /** Start of the next term's postings, and the number of postings before it. */
  #start = 0;
  #before = 0;
  #dictionary = new DictionaryPage(0, 0);
  readonly #firsts: string[] = [];

  constructor(id: number, write: (pages: readonly SearchPage[]) => Promise<void>) {
    this.#id = id;
    this.#write = write;
  }

  /** Whether `flush` is due. */
  get full(): boolean {
    return this.#size >= BATCH;
  }

  doc({ session, ...row }: Omit<DocRow, 'session'> & { session: string }): void {
    let number = this.#sessions.get(session);
    if (number === undefined) this.#sessions.set(session, (number = this.#sessions.size));
    this.#docs.push({ ...row, session: number });
    if (++this.#docCount % DOCS_PAGE === 0) this.#docsPage();
  }

  /** `term` must sort after all previous ones. `follows`: a byte for each of its postings. */
  term(term: string, { bytes, count }: PostingsWriter, follows: Uint8Array): void {
    if (this.#dictionary.size === 0) this.#firsts.push(term);
    this.#dictionary.add(term, count, bytes.length);
    this.#start += bytes.length;
    this.#before += count;
    this.#postings.append(bytes.view());
    this.#follows.append(follows);
    this.#fullPages(PART.postings, this.#postings);
    this.#fullPages(PART.follows, this.#follows);
    if (this.#dictionary.size >= TERMS_PAGE) this.#dictionaryPage();
  }

  async flush(): Promise<void> {
    const batch = this.#batch;
    [this.#batch, this.#size] = [[], 0];
    if (batch.length > 0) await this.#write(batch);
  }

  /** Writes the remaining pages. `length`: number of terms in all documents. */
  async finish(length: number): Promise<SegmentRow> {
    if (this.#docs.length > 0) this.#docsPage();
    if (this.#dictionary.size > 0) this.#dictionaryPage();
    if (this.#postings.length > 0) this.#page(PART.postings, this.#postings.slice());
    if (this.#follows.length > 0) this.#page(PART.follows, this.#follows.slice());
    const sessions = [...this.#sessions.keys()];
    for (let at = 0; at < sessions.length; at += SESSIONS_PAGE) this.#page(PART.sessions, sessions.slice(at, at + SESSIONS_PAGE));
    await this.flush();
    return { id: this.#id, docs: this.#docCount, length, terms: this.#firsts };
  }

  #docsPage(): void {
    this.#page(PART.docs, packDocs(this.#docs));
    this.#page(PART.ids, packIds(this.#docs.map(({ id }) => id)));
    this.#docs = [];
  }

  #fullPages(part: Part, stream: ByteWriter): void {
    if (stream.length < POSTINGS_PAGE) return;
    let from = 0;
    for (; from + POSTINGS_PAGE <= stream.length; from += POSTINGS_PAGE) this.#page(part, stream.slice(from, from + POSTINGS_PAGE));
    stream.shift(from);
  }

  #dictionaryPage(): void {
    this.#page(PART.terms, this.#dictionary.bytes());
    this.#dictionary = new DictionaryPage(this.#start, this.#before);
  }

  #page(part: Part, data: SearchPage['data']): void {
    const page = this.#counts.get(part) ?? 0;
    this.#counts.set(part, page + 1);
    this.#batch.push({ segment: this.#id, part, page, data });
    this.#size += data instanceof Uint8Array ? data.length : 50 * data.length;
  }
}
