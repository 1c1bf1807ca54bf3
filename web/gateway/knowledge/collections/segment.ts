import type { TimeSlicer } from '#shared/async/time-slicer.ts';
import { Columns } from '../search/columns/columns.ts';
import { lowerBound } from '../search/columns/lower-bound.ts';
import { type StringColumn, StringWriter } from '../search/columns/string-column.ts';
import { countTerms } from '../search/count-terms.ts';
import type { TermPostings } from '../search/term-index.ts';
import { TermLists } from '../search/term-lists.ts';
import { splitWords } from '../search/text/analyze.ts';
import { detectWordsLanguage } from '../search/text/extract-terms.ts';
import { type Language, LANGUAGES } from '../search/text/languages.ts';
import { getAnalysisVersion } from '../memory/search/analysis.ts';

/** Increment this when the columns of a segment change. */
const FORMAT = 1;

const getFormatVersion = (): string => `collection segment ${FORMAT}, ${getAnalysisVersion()}`;

/** A text with its passages, to be indexed. */
export interface IndexedText {
  documentId: string;
  /** ID of this version of the document's text. */
  textId: string;
  title: string;
  passages: readonly IndexedPassage[];
}

interface IndexedPassage {
  text: string;
  headings?: readonly string[] | undefined;
  /** Part of the text in which the passage is stored. */
  part: number;
}

/** Place of a passage. */
export interface PassagePlace {
  documentId: string;
  textId: string;
  /** Number of the passage in its document. */
  number: number;
  part: number;
}

/** Passages that are analysed and not written as a segment yet. */
export class SegmentBuilder {
  readonly #lists = new TermLists();
  readonly #columns = new SegmentColumns();
  /** Characters of the passages. */
  chars = 0;

  get size(): number {
    return this.#columns.size;
  }

  /** Analyses a text in slices. */
  async add({ documentId, textId, title, passages }: IndexedText, slicer: TimeSlicer): Promise<void> {
    const text = this.#columns.addText(documentId, textId);
    const known = detectTextLanguage(passages);
    for (const [number, { text: passage, headings = [], part }] of passages.entries()) {
      const { counts, length, language } = countTerms([{ text: passage }, { text: [title, ...headings].join('\n') }], known);
      const row = this.#columns.add({ text, number, part, length, language: LANGUAGES.indexOf(language) });
      for (const [term, times] of counts) this.#lists.add(term, row, times);
      this.chars += passage.length;
      await slicer.after(ANALYSIS_COST * passage.length);
    }
  }

  /** Serializes the segment. */
  async finish(slicer: TimeSlicer): Promise<Uint8Array<ArrayBuffer>> {
    const columns = new Columns();
    this.#columns.write(columns);
    const numbers = Int32Array.from({ length: this.size }, (_, number) => number);
    await this.#lists.write(columns, numbers, slicer);
    return columns.toBytes(getFormatVersion());
  }
}

/** Number of passages from whose words the language of a text is detected. */
const LANGUAGE_SAMPLES = 4;

/** The language of most of a text. */
function detectTextLanguage(passages: readonly IndexedPassage[]): Language {
  const step = Math.max(1, Math.floor(passages.length / LANGUAGE_SAMPLES));
  const sample = passages.filter((_, number) => number % step === 0).slice(0, LANGUAGE_SAMPLES);
  return detectWordsLanguage(sample.flatMap(({ text }) => splitWords(text)));
}

/** Analysing a character costs as much as copying so many. */
const ANALYSIS_COST = 8;

/** Collects the columns of a segment's passages. */
class SegmentColumns {
  readonly #documentIds = new StringWriter();
  readonly #textIds = new StringWriter();
  readonly #texts: number[] = [];
  readonly #numbers: number[] = [];
  readonly #parts: number[] = [];
  readonly #lengths: number[] = [];
  readonly #languages: number[] = [];

  get size(): number {
    return this.#lengths.length;
  }

  /** Adds a text and returns its index. */
  addText(documentId: string, textId: string): number {
    this.#documentIds.add(documentId);
    return this.#textIds.add(textId);
  }

  /** Adds a passage and returns its number in the segment. */
  add({ text, number, part, length, language }: { text: number; number: number; part: number; length: number; language: number }): number {
    this.#texts.push(text);
    this.#numbers.push(number);
    this.#parts.push(part);
    this.#languages.push(language);
    return this.#lengths.push(length) - 1;
  }

  write(into: Columns): void {
    into.setStrings('document', this.#documentIds.finish());
    into.setStrings('text', this.#textIds.finish());
    into.set('textOf', Uint32Array.from(this.#texts));
    into.set('number', Uint32Array.from(this.#numbers));
    into.set('part', Uint32Array.from(this.#parts));
    into.set('length', Int32Array.from(this.#lengths));
    into.set('language', Uint8Array.from(this.#languages));
  }
}

/** An immutable part of the index of a collection. Its passages are numbered from `base` among those of all segments. */
export class Segment {
  readonly id: string;
  readonly collectionId: string;
  readonly #columns: Columns;
  readonly #lists: TermLists;
  readonly #documents: StringColumn;
  readonly #texts: StringColumn;
  #base = 0;

  private constructor(id: string, collectionId: string, columns: Columns) {
    [this.id, this.collectionId, this.#columns] = [id, collectionId, columns];
    this.#lists = new TermLists(columns);
    this.#documents = columns.strings('document');
    this.#texts = columns.strings('text');
  }

  /** Restores a segment, whose bytes it changes from then on. Undefined if they are damaged or of another text analysis. */
  static async restore(id: string, collectionId: string, bytes: Uint8Array<ArrayBuffer>): Promise<Segment | undefined> {
    const columns = await Columns.fromBytes(bytes, getFormatVersion());
    return columns && new Segment(id, collectionId, columns);
  }

  /** Number of passages, removed ones included. */
  get size(): number {
    return this.lengths.length;
  }

  get base(): number {
    return this.#base;
  }

  /** Renumbers the passages. */
  set base(base: number) {
    const shift = base - this.#base;
    if (shift !== 0) {
      const { docs } = this.postings;
      for (let index = 0; index < docs.length; index++) docs[index] = (docs[index] ?? 0) + shift;
    }
    this.#base = base;
  }

  /** Number of meaningful words by passage, as it was written. */
  get lengths(): Int32Array<ArrayBuffer> {
    return this.#columns.i32('length');
  }

  /** Index into `LANGUAGES` by passage. */
  get languages(): Uint8Array<ArrayBuffer> {
    return this.#columns.u8('language');
  }

  /** Index of the text by passage. Passages of a text follow each other. */
  get textIndexes(): Uint32Array<ArrayBuffer> {
    return this.#columns.u32('textOf');
  }

  get textCount(): number {
    return this.#texts.length;
  }

  /** IDs of the text with an index, and of its document. */
  getText(index: number): { documentId: string; textId: string } {
    return { documentId: this.#documents.at(index), textId: this.#texts.at(index) };
  }

  /** Index of a text; -1 if the segment does not have it. */
  findText(textId: string): number {
    return this.#texts.find(textId);
  }

  /** Place of the passage with a number from `base`. */
  getPlace(number: number): PassagePlace {
    const row = number - this.#base;
    return {
      ...this.getText(this.textIndexes[row] ?? 0),
      number: this.#columns.u32('number')[row] ?? 0,
      part: this.#columns.u32('part')[row] ?? 0,
    };
  }

  /** Place of a passage of a text; undefined if the segment does not have it. */
  findPlace(textId: string, number: number): PassagePlace | undefined {
    const text = this.findText(textId);
    if (text === -1) return undefined;
    const row = lowerBound(this.textIndexes, text) + number;
    return this.textIndexes[row] === text ? this.getPlace(this.#base + row) : undefined;
  }

  /** Sorted terms, and the end of the postings of each. */
  get terms(): { terms: StringColumn; ends: Uint32Array<ArrayBuffer> } {
    return { terms: this.#columns.strings('term'), ends: this.#columns.u32('postingEnds') };
  }

  /** Postings of all terms, numbered from `base`. */
  get postings(): { docs: Uint32Array<ArrayBuffer>; times: Uint8Array<ArrayBuffer> } {
    return { docs: this.#columns.u32('postings'), times: this.#columns.u8('postingTimes') };
  }

  find(term: string): TermPostings['lists'] {
    return this.#lists.get(term);
  }

  findWordFamily(term: string): string[] {
    return this.#lists.findFamily(term);
  }
}

/** Merges segments of a collection to the bytes of one, without the passages whose number is not in `isAlive`. */
export async function mergeSegments(
  segments: readonly Segment[],
  isAlive: (number: number) => boolean,
  slicer: TimeSlicer,
): Promise<Uint8Array<ArrayBuffer>> {
  const rows = new SegmentColumns();
  const maps: Int32Array[] = [];
  for (const segment of segments) {
    const numbers = new Int32Array(segment.size).fill(-1);
    let [text, index] = [-1, -1];
    for (let row = 0; row < segment.size; row++) {
      const number = segment.base + row;
      if (!isAlive(number)) continue;
      const place = segment.getPlace(number);
      const textIndex = segment.textIndexes[row] ?? 0;
      if (textIndex !== index) [text, index] = [rows.addText(place.documentId, place.textId), textIndex];
      const [length, language] = [segment.lengths[row] ?? 0, segment.languages[row] ?? 0];
      numbers[row] = rows.add({ text, number: place.number, part: place.part, length, language });
      await slicer.after(ROW_COST);
    }
    maps.push(numbers);
  }
  const columns = new Columns();
  rows.write(columns);
  await mergeTerms(segments, maps, columns, slicer);
  return columns.toBytes(getFormatVersion());
}

async function mergeTerms(segments: readonly Segment[], maps: readonly Int32Array[], into: Columns, slicer: TimeSlicer): Promise<void> {
  const cursors = segments.map((segment, index) => {
    const { terms, ends } = segment.terms;
    return { segment, terms, ends, next: 0, term: terms.length > 0 ? terms.at(0) : undefined, ...segment.postings, map: maps[index] };
  });
  const room = cursors.reduce((sum, { docs }) => sum + docs.length, 0);
  const [docs, times] = [new Uint32Array(room), new Uint8Array(room)];
  const terms = new StringWriter();
  const ends: number[] = [];
  let end = 0;
  for (;;) {
    let least: string | undefined;
    for (const { term } of cursors) if (term !== undefined && (least === undefined || term < least)) least = term;
    if (least === undefined) break;
    const from = end;
    for (const cursor of cursors) {
      if (cursor.term !== least) continue;
      const { next, map, segment } = cursor;
      for (let at = next === 0 ? 0 : (cursor.ends[next - 1] ?? 0); at < (cursor.ends[next] ?? 0); at++) {
        const number = map?.[(cursor.docs[at] ?? 0) - segment.base] ?? -1;
        if (number === -1) continue;
        docs[end] = number;
        times[end++] = cursor.times[at] ?? 0;
      }
      cursor.next++;
      cursor.term = cursor.next < cursor.terms.length ? cursor.terms.at(cursor.next) : undefined;
    }
    if (end > from) {
      terms.add(least);
      ends.push(end);
    }
    await slicer.after(TERM_COST + end - from);
  }
  into.setStrings('term', terms.finish());
  into.set('postingEnds', Uint32Array.from(ends));
  into.set('postings', docs.slice(0, end));
  into.set('postingTimes', times.slice(0, end));
}

/** Cost of copying a passage's numbers, in characters. */
const ROW_COST = 50;
/** Fixed cost of merging a term, in characters. */
const TERM_COST = 10;
