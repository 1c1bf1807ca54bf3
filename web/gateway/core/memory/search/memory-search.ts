import type { Breath } from '../../documents/breath.ts';
import type { Columns } from '../columns/columns.ts';
import { timesIn } from '../text/time-words.ts';
import { type Concept, conceptsOf } from './concepts.ts';
import { feedback } from './feedback.ts';
import { MemoryIndex } from './memory-index.ts';
import type { Passage } from './passage.ts';
import { type OwnScores, ownScores } from './own-scores.ts';
import { rank } from './rank.ts';
import { WEIGHTS } from './weights.ts';

/** What speaks for a passage. */
export interface Reasons {
  /** Words of the query that it has, in whatever form, or others that mean the same. */
  words: string[];
  /** Words of the query that only what stands beside it has. */
  beside: string[];
  /** It was said at, or speaks of, a time that the query names. */
  timely: boolean;
  /** How alike it is in meaning, where a model has made vectors of it and the query: at most 1. */
  alike?: number;
}

export interface FoundPassage {
  passage: Passage;
  /** What it is ranked by; comparable within one search only. */
  score: number;
  /** The share of the query, by how telling its words are, that the passage and its neighbours have: 0 to 1. */
  coverage: number;
  why: Reasons;
}

export interface MemorySearchOptions {
  limit?: number;
  /** From when words such as "last March" are understood, and what is new is told from what is old: milliseconds since 1970. */
  now: number;
}

/** Passages that are looked at closely: to see what the best speak of, and to tell the best. */
const FIRST_CANDIDATES = 60;
const CANDIDATES = 200;

/**
 * Finds what was said or noted, by text alone: stems by language, other words for the same, what stands beside, who spoke, times that are named, and what else the best
 * passages speak of. All in memory.
 */
export class MemorySearch {
  readonly #index: MemoryIndex;

  /** `columns`: what `write` has written, of a search that is to be as it was then; no text is analysed. */
  constructor(columns?: Columns) {
    this.#index = new MemoryIndex(columns);
  }

  get size(): number {
    return this.#index.size;
  }

  has(id: string): boolean {
    return this.#index.numberOf(id) !== -1;
  }

  /** Undefined where there is none of that id. */
  get(id: string): Passage | undefined {
    return this.#index.passage(this.#index.numberOf(id));
  }

  /** Adds a passage behind the last of its thread, in place of one of the same id. */
  add(passage: Passage): void {
    this.#index.add(passage);
  }

  /** False: there was none. */
  remove(id: string): boolean {
    return this.#index.remove(id);
  }

  /** Writes what is searched at this moment, in slices; what comes meanwhile is not among it. It can be read again where `analysis()` says the same. */
  write(into: Columns, breath: Breath): Promise<void> {
    return this.#index.write(into, breath);
  }

  /** The best passages for a query, best first. */
  search(query: string, { limit = 10, now }: MemorySearchOptions): FoundPassage[] {
    const index = this.#index;
    const all: OwnScores[] = [];
    const scored = (concepts: readonly Concept[]): OwnScores[] =>
      concepts.map((concept) => {
        const own = ownScores(index, concept, WEIGHTS);
        all.push(own);
        return own;
      });
    try {
      const given = conceptsOf(query, index, WEIGHTS);
      const asked = { concepts: scored(given), times: timesIn(query, now), now };
      const first = rank(index, asked, WEIGHTS, { limit: WEIGHTS.feedbackPassages, candidates: FIRST_CANDIDATES });
      scored(feedback(index, given, first, WEIGHTS));
      const ranked = rank(index, { ...asked, concepts: all }, WEIGHTS, { limit, candidates: CANDIDATES + limit });
      return ranked.flatMap(({ number, score, coverage, own, beside, timely }) => {
        const passage = index.passage(number);
        return passage ? [{ passage, score, coverage, why: { words: own, beside, timely: timely > 0.5 } }] : [];
      });
    } finally {
      for (const { taken, touched } of all) if (taken) index.scratch.give(taken, touched.length);
    }
  }
}
