import { type Bm25Params, computeIdf, computeNorm, getNormTable, scoreTerm } from './bm25.ts';
import type { Concept } from './concepts.ts';
import type { ScoreBuffers } from './score-pool.ts';
import type { TermIndex } from './term-index.ts';

/** Scores of all documents for one concept. */
export interface ConceptScores {
  concept: Concept;
  /** Weight of the concept: the rarer, the higher. */
  worth: number;
  /** Score by document number. */
  scores: Float32Array;
  /** Numbers of the documents with a score. */
  touched: Uint32Array;
  /** The buffers of both, to be returned to the index; null if no document has a score. */
  buffers: ScoreBuffers | null;
}

/** Minimum collection size for weighting: in a very small one every word looks common. */
const MIN_DOCUMENTS = 50;

/** BM25 for one concept: the best of its terms counts. */
export function scoreConcept(index: TermIndex, concept: Concept, params: Bm25Params): ConceptScores {
  const count = Math.max(MIN_DOCUMENTS, index.size);
  const computeWorth = (frequency: number): number => computeIdf(count, Math.min(count, frequency)) * concept.weight;
  const all = concept.terms.flatMap(({ term, weight }) => {
    const found = index.find(term);
    return found ? [{ found, weight }] : [];
  });
  const exact = all.filter(({ weight }) => weight === 1);
  const totalFrequency = (exact.length > 0 ? exact : all).reduce((sum, { found }) => sum + found.count, 0);
  const conceptWeight = computeWorth(totalFrequency);
  if (totalFrequency === 0) return { concept, worth: conceptWeight, scores: NO_SCORES, touched: NO_DOCUMENTS, buffers: null };
  const buffers = index.scratch.take(index.end);
  const { scores, touched } = buffers;
  let end = 0;
  const { lengths, meanLength } = index;
  const norms = getNormTable(params, meanLength);
  for (const { found, weight } of all) {
    const termWeight = Math.min(conceptWeight, computeWorth(found.count)) * weight;
    for (const { docs, times, count } of found.lists) {
      for (let i = 0; i < count; i++) {
        const number = docs[i] ?? 0;
        const length = lengths[number] ?? -1;
        if (length < 0) continue;
        const score = scoreTerm(termWeight, times[i] ?? 1, norms[length] ?? computeNorm(params, length, meanLength), params);
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
const NO_DOCUMENTS = new Uint32Array(0);
