import type { QueryWord } from '../../knowledge/search/search-query.ts';
import { filterFollowed, type TermOccurrences } from './bigrams.ts';
import { encodeDoc, hashId, createColumns, type ROLES } from './segment-layout.ts';
import { TimeSlicer } from '#shared/async/time-slicer.ts';
import { PostingsWriter } from './postings.ts';
import type { SegmentWriter } from './segment-writer.ts';
import { selectMostCommon, type MatchedTerm, type SessionNumbers, type SearchSource } from './search-source.ts';

export interface IndexedMessage {
  id: string;
  sessionKey: string;
  role: (typeof ROLES)[number];
  timestamp: number;
  /** Occurrences of each term, and their total number. */
  terms: ReadonlyMap<string, TermOccurrences>;
  length: number;
}

/** Documents that are in no segment yet: in memory, rebuilt from the messages when a worker starts. */
export class Memtable implements SearchSource {
  readonly columns;
  readonly ids: string[] = [];
  length = 0;
  deadCount = 0;
  readonly #sessions: SessionNumbers;
  readonly #docs = new Map<string, number>();
  readonly #dead = new Set<number>();
  /** Flat lists of document, count and following byte. */
  readonly #terms = new Map<string, number[]>();

  constructor(sessions: SessionNumbers, capacity: number) {
    this.#sessions = sessions;
    this.columns = createColumns(capacity);
  }

  get size(): number {
    return this.ids.length;
  }

  get isFull(): boolean {
    return this.size === this.columns.code.length;
  }

  add({ id, sessionKey, role, timestamp, terms, length }: IndexedMessage): void {
    const doc = this.ids.push(id) - 1;
    this.#docs.set(id, doc);
    this.columns.session[doc] = this.#sessions.getNumber(sessionKey);
    this.columns.time[doc] = Math.max(0, timestamp / 1000);
    this.columns.hash[doc] = hashId(id);
    this.columns.code[doc] = encodeDoc(role, length);
    this.length += length;
    for (const [term, { times, follow }] of terms) {
      const list = this.#terms.get(term);
      if (list) list.push(doc, times, follow);
      else this.#terms.set(term, [doc, times, follow]);
    }
  }

  /** Removes a message that was deleted or will be indexed again. */
  remove(id: string): void {
    const doc = this.#docs.get(id);
    if (doc === undefined) return;
    this.#docs.delete(id);
    this.#dead.add(doc);
    this.deadCount++;
  }

  isDead(doc: number): boolean {
    return this.#dead.has(doc);
  }

  lookup(words: readonly QueryWord[]): Promise<MatchedTerm[][]> {
    const found = words.map(({ root, fits, next = [] }) => {
      const matching = [...this.#terms]
        .filter(([term]) => term.startsWith(root) && fits(term))
        .map(([term, list]) => ({ term, list, count: list.length / 3 }))
        .sort((a, b) => (a.term < b.term ? -1 : 1));
      return selectMostCommon(matching).map(({ list, count }) => {
        const term = { count, postings: packPostings(list).bytes.slice() };
        return next.length > 0 ? filterFollowed(term, getFollows(list), next) : term;
      });
    });
    return Promise.resolve(found);
  }

  getId(doc: number): Promise<string> {
    return Promise.resolve(this.ids[doc] ?? '');
  }

  /** Writes the documents as a segment. */
  async writeTo(writer: SegmentWriter): Promise<void> {
    const { session, time, code } = this.columns;
    const slicer = new TimeSlicer();
    for (const [doc, id] of this.ids.entries()) {
      writer.addDoc({ id, session: this.#sessions.keys[session[doc] ?? 0] ?? '', time: time[doc] ?? 0, code: code[doc] ?? 0 });
      if (slicer.isDue) await slicer.pause();
    }
    // Grouped by first letter, since sorting all at once would take too long.
    const initials = new Map<string, string[]>();
    for (const term of this.#terms.keys()) {
      const initial = term.charAt(0);
      const list = initials.get(initial);
      if (list) list.push(term);
      else initials.set(initial, [term]);
    }
    for (const initial of [...initials.keys()].sort()) {
      for (const term of initials.get(initial)?.sort() ?? []) {
        const list = this.#terms.get(term) ?? [];
        writer.addTerm(term, packPostings(list), getFollows(list));
        if (writer.isFull) await writer.flush();
        if (slicer.isDue) await slicer.pause();
      }
    }
  }
}

const scratchWriter = new PostingsWriter();

/** Valid until the next call. */
function packPostings(list: readonly number[]): PostingsWriter {
  scratchWriter.clear();
  for (let i = 0; i < list.length; i += 3) scratchWriter.add(list[i] ?? 0, list[i + 1] ?? 1);
  return scratchWriter;
}

const getFollows = (list: readonly number[]): Uint8Array =>
  Uint8Array.from({ length: list.length / 3 }, (_, index) => list[3 * index + 2] ?? 0);
