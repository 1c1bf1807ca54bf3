import type { TimeSlicer } from '#shared/async/time-slicer.ts';
import type { Columns } from '../../search/columns/columns.ts';
import { findTimeRanges } from '../../search/text/time-words.ts';
import { type Concept, extractConcepts } from '../../search/concepts.ts';
import { addAliases } from './aliases.ts';
import { extractConversationConcepts } from './conversation-concepts.ts';
import { MemoryIndex } from './memory-index.ts';
import type { Passage } from './passage.ts';
import { type ConceptScores, scoreConcept } from '../../search/concept-scores.ts';
import { computeFeatures, parseDemand } from './features.ts';
import { computeFit, describeWords, type QueryWords } from './fit.ts';
import { PassageRanking, type RankedPassage } from './rank.ts';
import { rerank } from './rerank.ts';
import { WEIGHTS, type Weights } from './weights.ts';
import { toTerm, splitWords } from '../../search/text/analyze.ts';

/** Why a passage matches. */
export interface MatchReasons {
  /** Words of the query that the passage contains, in any form or as a synonym. */
  words: string[];
  /** Words of the query found only in neighbouring passages. */
  beside: string[];
  /** Whether it was said at, or mentions, a time named in the query. */
  timely: boolean;
  /** Similarity in meaning, at most 1; set if both the passage and the query have vectors. */
  alike?: number;
}

export interface FoundPassage {
  passage: Passage;
  /** Ranking score; comparable only within one search. */
  score: number;
  /** Share of the query, weighted by how distinctive its words are, that the passage and its neighbours cover: 0 to 1. */
  coverage: number;
  /** Probability from 0 to 1 that one of the results answers the query, the same for all of them: nothing does below `MIN_FIT`. */
  fit: number;
  why: MatchReasons;
}

export interface MemorySearchOptions {
  limit?: number;
  /** Reference time for words such as "last March" and for recency, in milliseconds since the Unix epoch. */
  now: number;
}

/** Number of passages examined closely: for query expansion, and for the final ranking. */
const MAX_FIRST_CANDIDATES = 60;
const MAX_CANDIDATES = 200;
/** Number of the best that are ordered again by more features. */
const MAX_RERANKED = 60;

/**
 * Searches memories and conversations by text alone: stems by language, synonyms, neighbouring passages, speakers, times and query
 * expansion. Works entirely in memory.
 */
export class MemorySearch {
  readonly #index: MemoryIndex;

  /** `columns`: the output of `write`, to restore a search from without analysing texts again. */
  constructor(columns?: Columns) {
    this.#index = new MemoryIndex(columns);
  }

  get size(): number {
    return this.#index.size;
  }

  has(id: string): boolean {
    return this.#index.findNumber(id) !== -1;
  }

  /** Undefined if no passage has that id. */
  get(id: string): Passage | undefined {
    return this.#index.passage(this.#index.findNumber(id));
  }

  /** Appends a passage to its thread; replaces one with the same id. */
  add(passage: Passage): void {
    this.#index.add(passage);
  }

  /** Returns false if it does not exist. */
  remove(id: string): boolean {
    return this.#index.remove(id);
  }

  /** Writes the current state in slices; later changes are not included. Can be restored as long as `analysis()` returns the same value. */
  write(into: Columns, slicer: TimeSlicer): Promise<void> {
    return this.#index.write(into, slicer);
  }

  /** Builds in slices what the first query needs; otherwise that query blocks for longer. */
  prepare(slicer: TimeSlicer): Promise<void> {
    return this.#index.prepare(slicer);
  }

  /** The best passages for a query, best first. */
  search(query: string, { limit = 10, now }: MemorySearchOptions): FoundPassage[] {
    const index = this.#index;
    const { ranked, features, isList, words } = findCandidates(index, query, { limit, now });
    const best = rerank(index, ranked, { features, isList, limit });
    const fit = computeFit(best, words);
    return best.flatMap(({ number, score, coverage, own, beside, timely }) => {
      const passage = index.passage(number);
      return passage ? [{ passage, score, coverage, fit, why: { words: own, beside, timely: timely > 0.5 } }] : [];
    });
  }
}

/** The best passages by the first ranking, and features of the first of them, by which they are ordered again. */
export function findCandidates(
  index: MemoryIndex,
  query: string,
  { limit, now }: { limit: number; now: number },
): { ranked: RankedPassage[]; features: Float64Array[]; isList: boolean; words: QueryWords } {
  const all: ConceptScores[] = [];
  const computeScores = (concepts: readonly Concept[]): ConceptScores[] =>
    concepts.map((concept) => {
      const own = scoreConcept(index, concept, WEIGHTS);
      all.push(own);
      return own;
    });
  const ranking = new PassageRanking(index, { times: findTimeRanges(query, now), now }, WEIGHTS);
  try {
    const concepts = [...extractConcepts(query, index, WEIGHTS), ...extractConversationConcepts(query, index, WEIGHTS)];
    addAliases(concepts, index);
    ranking.add(computeScores(concepts));
    const first = ranking.getBest({ limit: WEIGHTS.feedbackPassages, candidates: MAX_FIRST_CANDIDATES });
    ranking.add(computeScores(expandQuery(index, concepts, first, WEIGHTS)));
    const ranked = ranking.getBest({ limit: Math.max(limit, MAX_RERANKED), candidates: MAX_CANDIDATES + limit });
    const demand = parseDemand(query, index);
    const features = computeFeatures(index, demand, ranked.slice(0, MAX_RERANKED), all);
    return { ranked, features, isList: demand.isList, words: describeWords(all) };
  } finally {
    ranking.close();
    for (const { buffers, touched } of all) if (buffers) index.scratch.give(buffers, touched.length);
  }
}

/** Query expansion: frequent concepts of the best passages, searched too with less weight. */
function expandQuery(
  index: MemoryIndex,
  concepts: readonly Concept[],
  best: readonly { number: number; score: number }[],
  w: Weights,
): Concept[] {
  const known = new Set(concepts.flatMap(({ terms }) => terms.map(({ term }) => term)));
  const top = best[0]?.score ?? 0;
  const sums = new Map<string, number>();
  for (const { number, score } of best.slice(0, w.feedbackPassages)) {
    const passage = index.passage(number);
    if (!passage) continue;
    const language = index.getLanguage(number);
    const own = new Set<string>();
    for (const word of splitWords(passage.text)) if (word.paired || !language.stopWords.has(word.folded)) own.add(toTerm(word, language));
    for (const term of own) {
      const frequency = index.find(term)?.count ?? 0;
      if (known.has(term) || frequency < 2 || frequency > index.size / 15) continue;
      sums.set(term, (sums.get(term) ?? 0) + (score / top) * Math.log(index.size / frequency));
    }
  }
  const chosen = [...sums].sort(([, a], [, b]) => b - a).slice(0, w.feedbackTerms);
  const maxSum = chosen[0]?.[1] ?? 1;
  return chosen.map(([term, sum]) => ({ word: null, terms: [{ term, weight: 1 }], weight: (w.feedback * sum) / maxSum }));
}
