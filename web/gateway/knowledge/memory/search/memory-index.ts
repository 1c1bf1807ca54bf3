import type { TimeSlicer } from '#shared/async/time-slicer.ts';
import type { Columns } from '../../search/columns/columns.ts';
import { StringWriter } from '../../search/columns/string-column.ts';
import { toTerm, type Word, splitWords } from '../../search/text/analyze.ts';
import { detectLanguage, ENGLISH, type Language, LANGUAGES } from '../../search/text/languages.ts';
import * as relations from '../../search/text/related-terms.ts';
import { findTimeRanges, type TimeRange } from '../../search/text/time-words.ts';
import type { Passage } from './passage.ts';
import { parseSpoken } from './spoken.ts';
import { PassageTable } from './passage-table.ts';
import { ScorePool } from '../../search/score-pool.ts';
import { TermLists } from '../../search/term-lists.ts';
import type { Postings, TermIndex, TermPostings, WordRelations } from '../../search/term-index.ts';
import { toSpeakerTerm } from '../../search/concepts.ts';
import { Threads } from './threads.ts';

/** Terms that are not words but kinds of content. Their prefix cannot occur in a word. */
export const NUMBER = '#number';
export const TIME = '#time';
export const NAME = '#name';
export const CAUSE = '#cause';
export const MONEY = '#money';

const QUESTION_END = /[?？؟]["'”’)\]\s]*$/u;
export const NUMBER_WORDS =
  /\p{N}|\b(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|dozen|half|twice|once|couple)\b/iu;
export const MONEY_WORDS = /[$€£¥]|\b(quid|pounds?|dollars?|bucks|euros?|grand|cents|pence|free|k)\b|\d k\b|(hundred|thousand)/iu;
export const CAUSE_WORDS = /\b(because|cause|cos|since|so that|due to|that's why|the reason|in order to|thanks to)\b/i;

/** In-memory index of all passages by their terms: columns restored from a snapshot, and passages added since. */
export class MemoryIndex implements TermIndex {
  readonly #lists: TermLists;
  readonly #passages: PassageTable;
  readonly #threads: Threads;
  /** Number of passages by language, in the order of `LANGUAGES`. */
  readonly #languages: number[] = LANGUAGES.map(() => 0);
  /** Folded names of speakers, with the number of passages of each. */
  readonly #speakers = new Map<string, number>();
  #length = 0;
  readonly scratch = new ScorePool();
  readonly relations: WordRelations = relations;
  /** Whether passages were removed, so that postings may refer to missing ones. */
  #hasRemovals = false;
  /** Numbers of postings of terms, and how many of them were of existing passages. Valid until the next removal. */
  readonly #presentCounts = new Map<string, { listed: number; present: number }>();

  /** `columns`: the output of `write`, to restore an index from. */
  constructor(columns?: Columns) {
    this.#lists = new TermLists(columns);
    this.#passages = new PassageTable(columns);
    this.#threads = new Threads(columns);
    if (!columns) return;
    for (const language of columns.u8('language')) this.#languages[language] = (this.#languages[language] ?? 0) + 1;
    for (const length of columns.i32('length')) this.#length += length;
    const names = columns.strings('name');
    for (const [number, count] of columns.u32('name/count').entries()) this.#speakers.set(names.at(number), count);
  }

  get size(): number {
    return this.#passages.size;
  }

  get end(): number {
    return this.#passages.end;
  }

  get meanLength(): number {
    return Math.max(1, this.#length / Math.max(1, this.size));
  }

  get languages(): Language[] {
    return LANGUAGES.map((language, index) => ({ language, count: this.#languages[index] ?? 0 }))
      .filter(({ count }) => count > 0)
      .sort((a, b) => b.count - a.count)
      .map(({ language }) => language);
  }

  getStopWords(language: Language): ReadonlySet<string> {
    return language.stopWords;
  }

  get speakers(): ReadonlyMap<string, number> {
    return this.#speakers;
  }

  findWordFamily(term: string): string[] {
    return this.#lists.findFamily(term);
  }

  passage(number: number): Passage | undefined {
    return this.#passages.passage(number, this.#threads.getName(this.threadNumbers[number] ?? -1));
  }

  /** Number of a passage by id; -1 if it does not exist. */
  findNumber(id: string): number {
    return this.#passages.findNumber(id);
  }

  hasPassage(number: number): boolean {
    return this.#passages.hasPassage(number);
  }

  asks(number: number): boolean {
    return this.#passages.asks(number);
  }

  /** When it was said or noted, in milliseconds since the Unix epoch; null if it does not age. */
  at(number: number): number | null {
    return this.#passages.at(number);
  }

  /** Time ranges mentioned in the passage's text, and the instant it was said if it does not age by that. */
  getTimes(number: number): readonly TimeRange[] {
    return this.#passages.getTimes(number);
  }

  /** Whether the text mentions a time. */
  mentionsTime(number: number): boolean {
    return this.getTimes(number).some((range) => !isInstant(range));
  }

  /** When it was said or written, also if it does not age; null if unknown. */
  getTime(number: number): number | null {
    return this.getTimes(number).find(isInstant)?.from ?? this.at(number);
  }

  /** Language of a passage's thread, as detected so far. */
  getLanguage(number: number): Language {
    return this.#threads.getLanguage(this.threadNumbers[number] ?? -1);
  }

  get lengths(): Int32Array {
    return this.#passages.lengths;
  }

  /** Number of the thread by passage number. */
  get threadNumbers(): Int32Array {
    return this.#passages.threadNumbers;
  }

  /** Previous and next passage in the thread by passage number; -1 if there is none. */
  get previous(): Int32Array {
    return this.#passages.previous;
  }

  get next(): Int32Array {
    return this.#passages.next;
  }

  get threadCount(): number {
    return this.#threads.end;
  }

  /** Builds in slices what the first query needs. */
  async prepare(slicer: TimeSlicer): Promise<void> {
    await relations.prepareRelatedTerms(slicer);
    await this.#lists.prepare(slicer);
    // Compiles the expression.
    findTimeRanges('', 0);
    await slicer.pause();
  }

  find(term: string): TermPostings | undefined {
    const lists = this.#lists.get(term);
    const listed = lists.reduce((sum, list) => sum + list.count, 0);
    const count = this.#hasRemovals ? this.#countPresent(term, lists, listed) : listed;
    return count === 0 ? undefined : { count, lists };
  }

  /** Appends a passage to its thread; replaces one with the same id. */
  add(passage: Passage): void {
    this.remove(passage.id);
    const { speaker, text, date } = parseSpoken(passage);
    const words = splitWords(text);
    const thread = this.#threads.numberFor(passage.thread, this.languages[0] ?? ENGLISH);
    const language = detectLanguage(words.map(({ folded }) => folded)) ?? this.#threads.getLanguage(thread);
    this.#threads.setLanguage(thread, language);
    const terms = extractTerms(speaker, words, language);
    const writtenAt = passage.at ?? passage.writtenAt ?? null;
    const ownDate = date === undefined || writtenAt === null ? undefined : findTimeRanges(date, writtenAt)[0]?.from;
    const saidAt = ownDate ?? writtenAt;
    const times = saidAt === null ? [] : findTimeRanges(text, saidAt);
    if (times.length > 0) terms.counts.set(TIME, 1);
    if (saidAt !== null && saidAt !== passage.at) times.push({ from: saidAt, to: saidAt + 1 });
    if (NUMBER_WORDS.test(text)) terms.counts.set(NUMBER, 1);
    if (MONEY_WORDS.test(text)) terms.counts.set(MONEY, 1);
    if (CAUSE_WORDS.test(text)) terms.counts.set(CAUSE, 1);
    const languageIndex = LANGUAGES.indexOf(language);
    const facts = { thread, length: terms.length, times, asks: QUESTION_END.test(text), language: languageIndex };
    const number = this.#passages.add(passage, facts, this.#threads.getLastPassage(thread));
    for (const [term, times] of terms.counts) this.#lists.add(term, number, times);
    this.#threads.added(thread, number);
    this.#length += terms.length;
    this.#languages[languageIndex] = (this.#languages[languageIndex] ?? 0) + 1;
    for (const name of getNames(speaker)) this.#speakers.set(name, (this.#speakers.get(name) ?? 0) + 1);
  }

  remove(id: string): boolean {
    const number = this.#passages.findNumber(id);
    if (number === -1) return false;
    const thread = this.threadNumbers[number] ?? 0;
    const last = this.#threads.getLastPassage(thread);
    this.#threads.removed(thread, last === number ? (this.previous[number] ?? -1) : last);
    this.#length -= this.lengths[number] ?? 0;
    const language = this.#passages.languages[number] ?? 0;
    this.#languages[language] = (this.#languages[language] ?? 0) - 1;
    const removed = this.passage(number);
    for (const name of getNames(removed && parseSpoken(removed).speaker)) {
      const count = (this.#speakers.get(name) ?? 0) - 1;
      if (count > 0) this.#speakers.set(name, count);
      else this.#speakers.delete(name);
    }
    this.#passages.remove(number, id);
    this.#hasRemovals = true;
    this.#presentCounts.clear();
    return true;
  }

  /** Writes the current state; passages added or removed while writing are not included. */
  async write(into: Columns, slicer: TimeSlicer): Promise<void> {
    const passages = this.#passages.capture();
    const threads = this.#threads.capture(passages.numbers);
    const names = new StringWriter();
    const counts = [...this.#speakers].map(([name, count]) => {
      names.add(name);
      return count;
    });
    into.setStrings('name', names.finish());
    into.set('name/count', Uint32Array.from(counts));
    await passages.write(into, threads.numbers, slicer);
    await threads.write(into, slicer);
    await this.#lists.write(into, passages.numbers, slicer);
  }

  #countPresent(term: string, lists: readonly Postings[], listed: number): number {
    const known = this.#presentCounts.get(term);
    // Passages added since are at the end of the lists, and exist.
    if (known) return known.present + listed - known.listed;
    const { lengths } = this;
    let present = 0;
    for (const { docs, count } of lists) for (let i = 0; i < count; i++) if ((lengths[docs[i] ?? 0] ?? -1) >= 0) present++;
    this.#presentCounts.set(term, { listed, present });
    return present;
  }
}

/** The time of a passage is among those that it mentions if it is not the one by which it ages. */
const isInstant = ({ from, to }: TimeRange): boolean => to - from === 1;

/** Folded words of a speaker's name. */
const getNames = (speaker: string | undefined): string[] => (speaker === undefined ? [] : splitWords(speaker).map(({ folded }) => folded));

/** The terms of a passage with their frequency, and its number of meaningful words. */
function extractTerms(
  speaker: string | undefined,
  words: readonly Word[],
  language: Language,
): { counts: Map<string, number>; length: number } {
  const counts = new Map<string, number>();
  const count = (term: string): void => void counts.set(term, (counts.get(term) ?? 0) + 1);
  let length = 0;
  const stems = words.map((word) => toTerm(word, language));
  stems.forEach(count);
  if (language === ENGLISH) for (const { term } of relations.findExpressions(stems)) count(term);
  for (const word of words) {
    if (!language.stopWords.has(word.folded)) length++;
    if (word.name) counts.set(NAME, 1);
  }
  for (const name of getNames(speaker)) counts.set(toSpeakerTerm(name), 1);
  return { counts, length };
}
