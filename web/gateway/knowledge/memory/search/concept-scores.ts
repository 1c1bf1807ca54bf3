import type { Concept } from './concepts.ts';
import type { MemoryIndex } from './memory-index.ts';
import type { ScoreBuffers } from './score-pool.ts';
import type { Weights } from './weights.ts';

/** Scores of all passages for one concept. */
export interface ConceptScores {
  concept: Concept;
  /** Weight of the concept: the rarer, the higher. */
  worth: number;
  /** Score by passage number. */
  scores: Float32Array;
  /** Numbers of the passages with a score. */
  touched: Uint32Array;
  /** The buffers of both, to be returned to the index; null if no passage has a score. */
  buffers: ScoreBuffers | null;
}

/** Minimum collection size for weighting: in a very small one every word looks common. */
const MIN_PASSAGES = 50;

/** BM25 for one concept: the best of its terms counts. */
export function scoreConcept(index: MemoryIndex, concept: Concept, { k1, b }: Weights): ConceptScores {
  const count = Math.max(MIN_PASSAGES, index.size);
  const computeWorth = (frequency: number): number => {
    const cappedFrequency = Math.min(count, frequency);
    return Math.log(1 + (count - cappedFrequency + 0.5) / (cappedFrequency + 0.5)) * concept.weight;
  };
  const all = concept.terms.flatMap(({ term, weight }) => {
    const found = index.find(term);
    return found ? [{ found, weight }] : [];
  });
  const exact = all.filter(({ weight }) => weight === 1);
  const totalFrequency = (exact.length > 0 ? exact : all).reduce((sum, { found }) => sum + found.count, 0);
  const conceptWeight = computeWorth(totalFrequency);
  if (totalFrequency === 0) return { concept, worth: conceptWeight, scores: NO_SCORES, touched: NO_PASSAGES, buffers: null };
  const buffers = index.scratch.take(index.end);
  const { scores, touched } = buffers;
  let end = 0;
  const { lengths } = index;
  const perWord = (k1 * b) / index.meanLength;
  for (const { found, weight } of all) {
    const maxScore = Math.min(conceptWeight, computeWorth(found.count)) * weight * (k1 + 1);
    for (const { passages, times, count } of found.lists) {
      for (let i = 0; i < count; i++) {
        const number = passages[i] ?? 0;
        const length = lengths[number] ?? -1;
        if (length < 0) continue;
        const termCount = times[i] ?? 1;
        const score = (maxScore * termCount) / (termCount + k1 * (1 - b) + perWord * length);
        const before = scores[number] ?? 0;
        if (score <= before) continue;
        if (before === 0) touched[end++] = number;
        scores[number] = score;
      }
    }
  }
  return { concept, worth: conceptWeight, scores, touched: touched.subarray(0, end), buffers };
}

const NO_SCORES = new Float32Array(0);
const NO_PASSAGES = new Uint32Array(0);
