import type { ScoreBuffers } from '../../search/score-pool.ts';
import type { MemoryIndex } from './memory-index.ts';
import type { Weights } from './weights.ts';

/** Number of passages on either side that are considered related. */
const NEIGHBOUR_REACH = 5;

/** Weights with which the scores of neighbours count, by their distance minus 1. */
export interface NeighbourWeights {
  before: readonly number[];
  /** A question before the passage. */
  answer: readonly number[];
  after: readonly number[];
}

export function createNeighbourWeights(w: Pick<Weights, 'before' | 'answer' | 'after' | 'far'>): NeighbourWeights {
  const shares: number[] = [];
  for (let step = 0, share = 1; step < NEIGHBOUR_REACH; step++, share *= w.far) shares.push(share);
  const weigh = (weight: number): number[] => shares.map((share) => share * weight);
  return { before: weigh(w.before), answer: weigh(w.answer), after: weigh(w.after) };
}

/**
 * Passages and their neighbours in the thread, by position: the score of each is read once for a concept, although it counts for up to
 * eleven passages.
 */
export class Neighbourhood {
  /** Number of passages to be scored: the given ones and those around them. Further positions are neighbours of these only. */
  readonly count: number;
  readonly #index: MemoryIndex;
  /** `touched`: passage numbers by position; `scores`: position plus 1 by passage number. */
  readonly #buffers: ScoreBuffers;
  #end = 0;
  /** Positions of the neighbours of all passages in sequence, their weights, and the end of each passage's neighbours. */
  readonly #neighbours: Int32Array;
  readonly #weights: Float64Array;
  readonly #ends: Int32Array;
  readonly #scores: Float64Array;
  readonly #best: Float64Array;

  /** Call `close` when done. */
  constructor(index: MemoryIndex, passages: readonly number[], weights: NeighbourWeights) {
    this.#index = index;
    this.#buffers = index.scratch.take(index.end);
    for (const number of passages) {
      this.#add(number);
      this.#walk(number, (neighbour) => void this.#add(neighbour));
    }
    this.count = this.#end;
    this.#neighbours = new Int32Array(2 * NEIGHBOUR_REACH * this.count);
    this.#weights = new Float64Array(2 * NEIGHBOUR_REACH * this.count);
    this.#ends = new Int32Array(this.count);
    let end = 0;
    for (let position = 0; position < this.count; position++) {
      this.#walk(this.getNumber(position), (neighbour, step, isBefore) => {
        const of = isBefore ? (index.asks(neighbour) ? weights.answer : weights.before) : weights.after;
        this.#neighbours[end] = this.#add(neighbour);
        this.#weights[end++] = of[step] ?? 0;
      });
      this.#ends[position] = end;
    }
    this.#scores = new Float64Array(this.#end);
    this.#best = new Float64Array(this.count);
  }

  getNumber(position: number): number {
    return this.#buffers.touched[position] ?? 0;
  }

  hasNeighbours(position: number): boolean {
    return this.#start(position) < (this.#ends[position] ?? 0);
  }

  hasNeighbourWithScore(position: number, scores: Float32Array): boolean {
    for (let i = this.#start(position); i < (this.#ends[position] ?? 0); i++)
      if ((scores[this.getNumber(this.#neighbours[i] ?? 0)] ?? 0) > 0) return true;
    return false;
  }

  /**
   * The best of each passage's own score and its neighbours' weighted scores, by position; overwritten by the next call. `passageScores`:
   * by passage number.
   */
  computeBest(passageScores: Float32Array): Float64Array {
    const [scores, best, neighbours, weights, ends] = [this.#scores, this.#best, this.#neighbours, this.#weights, this.#ends];
    const { touched: numbers } = this.#buffers;
    for (let position = 0; position < scores.length; position++) scores[position] = passageScores[numbers[position] ?? 0] ?? 0;
    for (let position = 0, i = 0; position < best.length; position++) {
      let score = scores[position] ?? 0;
      for (const end = ends[position] ?? 0; i < end; i++) {
        const other = (scores[neighbours[i] ?? 0] ?? 0) * (weights[i] ?? 0);
        if (other > score) score = other;
      }
      best[position] = score;
    }
    return best;
  }

  /** Frees the buffers. */
  close(): void {
    this.#index.scratch.give(this.#buffers, this.#end);
  }

  #start(position: number): number {
    return position === 0 ? 0 : (this.#ends[position - 1] ?? 0);
  }

  /** Returns the position of a passage. */
  #add(number: number): number {
    const { scores: positions, touched: numbers } = this.#buffers;
    const known = positions[number] ?? 0;
    if (known > 0) return known - 1;
    numbers[this.#end] = number;
    positions[number] = ++this.#end;
    return this.#end - 1;
  }

  #walk(number: number, visit: (neighbour: number, step: number, isBefore: boolean) => void): void {
    const { previous, next } = this.#index;
    let [earlier, later] = [previous[number] ?? -1, next[number] ?? -1];
    for (let step = 0; step < NEIGHBOUR_REACH && (earlier !== -1 || later !== -1); step++) {
      if (earlier !== -1) visit(earlier, step, true);
      if (later !== -1) visit(later, step, false);
      [earlier, later] = [previous[earlier] ?? -1, next[later] ?? -1];
    }
  }
}
