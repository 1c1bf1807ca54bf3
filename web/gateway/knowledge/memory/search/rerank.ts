import { FEATURES, type Feature } from './features.ts';
import type { MemoryIndex } from './memory-index.ts';
import type { RankedPassage } from './rank.ts';
import { RERANK_WEIGHTS } from './rerank-weights.ts';

/** Deduction for a passage next to a better one, which is shown beside it anyway; more if the query asks for several things. */
const ADJACENT = 0.4;
const ADJACENT_IN_LIST = 0.8;
/** Deduction for a passage of the same thread, if the query asks for several things: they were rarely said in one conversation. */
const SAME_THREAD_IN_LIST = 0.2;
/** Distance in the thread up to which passages count as adjacent. */
const ADJACENT_REACH = 3;

const WEIGHTS = FEATURES.map((feature: Feature) => RERANK_WEIGHTS[feature]);

/** A passage in its final order. */
export interface RerankedPassage extends RankedPassage {
  /** Undefined if it was not among the first. */
  features: Float64Array | undefined;
}

/** Orders the first passages again by the weighted sum of their features, and returns the best. */
export function rerank(
  index: MemoryIndex,
  ranked: readonly RankedPassage[],
  { features, isList, limit }: { features: readonly Float64Array[]; isList: boolean; limit: number },
): RerankedPassage[] {
  const values = Float64Array.from(features, computeValue);
  const chosen: RerankedPassage[] = [];
  for (let rank = 0; rank < ranked.length && chosen.length < limit; rank++) {
    let best = -1;
    for (let i = 0; i < values.length; i++) if ((values[i] ?? -Infinity) > (values[best] ?? -Infinity)) best = i;
    const passage = ranked[best === -1 ? rank : best];
    if (!passage) break;
    // The scores keep their distribution, so that they can be combined with others.
    chosen.push({ ...passage, score: ranked[rank]?.score ?? 0, features: features[best] });
    if (best === -1) continue;
    values[best] = -Infinity;
    for (let i = 0; i < values.length; i++)
      values[i] = (values[i] ?? 0) - computeDeduction(index, passage.number, ranked[i]?.number ?? -1, isList);
  }
  return chosen;
}

/** Weighted sum of the features of a passage. */
export function computeValue(row: Float64Array): number {
  let value = 0;
  for (let i = 0; i < row.length; i++) value += (row[i] ?? 0) * (WEIGHTS[i] ?? 0);
  return value;
}

/** Deduction for a passage after a better one. */
function computeDeduction(index: MemoryIndex, better: number, other: number, isList: boolean): number {
  if (isAdjacent(index, better, other)) return isList ? ADJACENT_IN_LIST : ADJACENT;
  return isList && index.threadNumbers[better] === index.threadNumbers[other] ? SAME_THREAD_IN_LIST : 0;
}

function isAdjacent({ previous, next }: MemoryIndex, one: number, other: number): boolean {
  let [before, after] = [one, one];
  for (let step = 0; step < ADJACENT_REACH; step++) {
    [before, after] = [previous[before] ?? -1, next[after] ?? -1];
    if (other !== -1 && (before === other || after === other)) return true;
  }
  return false;
}
