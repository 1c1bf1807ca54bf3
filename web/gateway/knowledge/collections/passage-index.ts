import { BM25 } from '../search/bm25.ts';
import { createIntegers } from '../search/columns/grow-column.ts';
import { lowerBound } from '../search/columns/lower-bound.ts';
import { type ConceptScores, scoreConcept } from '../search/concept-scores.ts';
import { type ConceptWeights, extractConcepts } from '../search/concepts.ts';
import { ScorePool } from '../search/score-pool.ts';
import { selectBest } from '../search/select-best.ts';
import type { TermIndex, TermPostings } from '../search/term-index.ts';
import { type Language, LANGUAGES } from '../search/text/languages.ts';
import type { PassagePlace, Segment } from './segment.ts';

/** Documents are searched in a query's own words, and have no speakers. */
const WEIGHTS: ConceptWeights = { related: 0, family: 0.25, speaker: 0 };
/** Share of the score that depends on how much of the query a passage contains. */
const COVERAGE_WEIGHT = 0.4;
/** Passages that are compared by coverage too. */
const MIN_CANDIDATES = 100;
/** Unused numbers at which all passages are renumbered. */
const MAX_UNUSED_NUMBERS = 20_000;

/** A passage that a search found by words. */
export interface PassageHit extends PassagePlace {
  collectionId: string;
  score: number;
  /** Share of the query, weighted by its words, that the passage contains in any form: 0 to 1. */
  coverage: number;
}

/** The passages of collections, in immutable segments. Removed ones are only marked. Works in memory. */
export class PassageIndex {
  readonly #segments = new Map<string, Segment>();
  readonly scratch = new ScorePool();
  /** Number of meaningful words by passage; -1 for removed ones and unused numbers. */
  lengths = createIntegers(0);
  #end = 0;
  #view: IndexView | undefined;

  get end(): number {
    return this.#end;
  }

  /** Segments of a collection, oldest first. */
  getSegments(collectionId: string): Segment[] {
    return [...this.#segments.values()].filter((segment) => segment.collectionId === collectionId);
  }

  /** Adds a segment without the texts that `isCurrent` refuses, in place of others. */
  replace(
    removed: readonly string[],
    added: Segment | undefined,
    isCurrent: (text: { documentId: string; textId: string }) => boolean,
  ): void {
    this.#view = undefined;
    for (const id of removed) this.#drop(id);
    if (added) {
      added.base = this.#end;
      this.#end += added.size;
      if (this.#end > this.lengths.length) {
        const longer = createIntegers(this.#end + (this.#end >> 3)).fill(-1);
        longer.set(this.lengths);
        this.lengths = longer;
      }
      this.lengths.set(added.lengths, added.base);
      this.#segments.set(added.id, added);
      for (let text = 0; text < added.textCount; text++) if (!isCurrent(added.getText(text))) this.#removeText(added, text);
    }
    this.#renumber();
  }

  drop(collectionId: string): void {
    this.#view = undefined;
    for (const { id } of this.getSegments(collectionId)) this.#drop(id);
    this.#renumber();
  }

  /** Removes a text from the results. */
  remove(collectionId: string, textId: string): void {
    for (const segment of this.getSegments(collectionId)) {
      const text = segment.findText(textId);
      if (text !== -1) this.#removeText(segment, text);
    }
  }

  hasText(collectionId: string, textId: string): boolean {
    return this.getSegments(collectionId).some((segment) => segment.findText(textId) !== -1);
  }

  isAlive(number: number): boolean {
    return (this.lengths[number] ?? -1) >= 0;
  }

  /** Number of passages of a segment that were not removed. */
  countAlive(segment: Segment): number {
    let alive = 0;
    for (let number = segment.base; number < segment.base + segment.size; number++) if (this.isAlive(number)) alive++;
    return alive;
  }

  /** The best passages of these collections by the words of a query, best first. `textIds`: only passages of these texts. */
  search(query: string, collectionIds: readonly string[], limit: number, textIds?: ReadonlySet<string>): PassageHit[] {
    const segments = [...this.#segments.values()].filter(({ collectionId }) => collectionIds.includes(collectionId));
    if (segments.length === 0) return [];
    const view = this.#getView(segments);
    const concepts = extractConcepts(query, view, WEIGHTS).map((concept) => scoreConcept(view, concept, BM25));
    try {
      return this.#rank(concepts, limit, textIds && createTextFilter(segments, textIds)).flatMap(({ number, ...hit }) => {
        const segment = segments.find(({ base, size }) => number >= base && number < base + size);
        return segment ? [{ collectionId: segment.collectionId, ...segment.getPlace(number), ...hit }] : [];
      });
    } finally {
      for (const { buffers, touched } of concepts) if (buffers) this.scratch.give(buffers, touched.length);
    }
  }

  /** The same view for the same segments, until a passage is added or removed. */
  #getView(segments: readonly Segment[]): IndexView {
    const view = this.#view;
    if (view?.segments.length === segments.length && segments.every((segment, index) => segment === view.segments[index])) return view;
    return (this.#view = new IndexView(this, segments));
  }

  #rank(
    concepts: readonly ConceptScores[],
    limit: number,
    isWanted?: (number: number) => boolean,
  ): { number: number; score: number; coverage: number }[] {
    const buffers = this.scratch.take(this.#end);
    const { scores: totals, touched } = buffers;
    let count = 0;
    for (const { touched: numbers, scores } of concepts) {
      for (let index = 0; index < numbers.length; index++) {
        const number = numbers[index] ?? 0;
        const before = totals[number] ?? 0;
        if (before === 0) touched[count++] = number;
        totals[number] = before + (scores[number] ?? 0);
      }
    }
    const totalWorth = concepts.reduce((sum, { worth }) => sum + worth, 0);
    const found = touched.subarray(0, count);
    const wanted = isWanted ? found.filter(isWanted) : found;
    const ranked = selectBest(wanted, totals, Math.max(MIN_CANDIDATES, 2 * limit)).map((number) => {
      const matched = concepts.reduce((sum, { worth, scores }) => sum + ((scores[number] ?? 0) > 0 ? worth : 0), 0);
      const coverage = totalWorth === 0 ? 0 : matched / totalWorth;
      return { number, score: (totals[number] ?? 0) * (1 - COVERAGE_WEIGHT + COVERAGE_WEIGHT * coverage), coverage };
    });
    this.scratch.give(buffers, count);
    return ranked.sort((a, b) => b.score - a.score || a.number - b.number).slice(0, limit);
  }

  #removeText({ base, textIndexes }: Segment, text: number): void {
    this.#view = undefined;
    let row = lowerBound(textIndexes, text);
    for (; textIndexes[row] === text; row++) this.lengths[base + row] = -1;
  }

  #drop(id: string): void {
    const segment = this.#segments.get(id);
    if (!segment) return;
    this.#segments.delete(id);
    this.lengths.fill(-1, segment.base, segment.base + segment.size);
  }

  /** Assigns numbers without gaps once many are unused. */
  #renumber(): void {
    const used = [...this.#segments.values()].reduce((sum, { size }) => sum + size, 0);
    if (this.#end - used < Math.max(MAX_UNUSED_NUMBERS, used)) return;
    const lengths = createIntegers(used + (used >> 3)).fill(-1);
    let end = 0;
    for (const segment of this.#segments.values()) {
      lengths.set(this.lengths.subarray(segment.base, segment.base + segment.size), end);
      segment.base = end;
      end += segment.size;
    }
    [this.lengths, this.#end] = [lengths, end];
  }
}

/** A filter of passages, by number, that belong to these texts. */
function createTextFilter(segments: readonly Segment[], textIds: ReadonlySet<string>): (number: number) => boolean {
  const parts = segments.map((segment) => ({
    segment,
    wanted: Array.from({ length: segment.textCount }, (_, text) => textIds.has(segment.getText(text).textId)),
  }));
  return (number) => {
    const part = parts.find(({ segment: { base, size } }) => number >= base && number < base + size);
    return part?.wanted[part.segment.textIndexes[number - part.segment.base] ?? -1] === true;
  };
}

/** Some segments as one index. */
class IndexView implements TermIndex {
  readonly #index: PassageIndex;
  readonly segments: readonly Segment[];
  readonly size: number;
  readonly meanLength: number;
  readonly languages: readonly Language[];
  readonly speakers: ReadonlyMap<string, number> = new Map();

  constructor(index: PassageIndex, segments: readonly Segment[]) {
    [this.#index, this.segments] = [index, segments];
    let [size, total] = [0, 0];
    const languages = new Uint32Array(LANGUAGES.length);
    for (const segment of segments) {
      const { base, languages: own } = segment;
      for (let row = 0; row < own.length; row++) {
        const length = index.lengths[base + row] ?? -1;
        if (length < 0) continue;
        size++;
        total += length;
        const language = own[row] ?? 0;
        languages[language] = (languages[language] ?? 0) + 1;
      }
    }
    this.size = size;
    this.meanLength = Math.max(1, total / Math.max(1, size));
    this.languages = LANGUAGES.map((language, number) => ({ language, count: languages[number] ?? 0 }))
      .filter(({ count }) => count > 0)
      .sort((a, b) => b.count - a.count)
      .map(({ language }) => language);
  }

  get end(): number {
    return this.#index.end;
  }

  get lengths(): Int32Array {
    return this.#index.lengths;
  }

  get scratch(): ScorePool {
    return this.#index.scratch;
  }

  getStopWords(language: Language): ReadonlySet<string> {
    return language.functionWords;
  }

  find(term: string): TermPostings | undefined {
    const lists = this.segments.flatMap((segment) => segment.find(term));
    return lists.length === 0 ? undefined : { count: lists.reduce((sum, { count }) => sum + count, 0), lists };
  }

  findWordFamily(term: string): string[] {
    return [...new Set(this.segments.flatMap((segment) => segment.findWordFamily(term)))];
  }
}
