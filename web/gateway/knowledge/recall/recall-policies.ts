import { MIN_FIT } from '../memory/search/min-fit.ts';
import type { RecallHit } from './recall-result.ts';
import type { PromptStyle } from './recall-settings.ts';

/** How a prompt style selects memories. */
export interface RecallPolicy {
  /** Minimum relevance from 0 to 1, and minimum relative to the best memory. */
  minRelevance: number;
  minRelative: number;
  /** Minimum number of query words in the memory, unless it matches a time named in the query. */
  words: number;
  /** Whether words found only in neighbouring passages count too. */
  neighbours: boolean;
  maxMemories: number;
  /** Minimum probability that a search has found an answer, if the backend estimates it. */
  minFit: number;
  /** Weight of earlier turns relative to the latest message. */
  context: number;
  /** If set, only memories of these categories. */
  categories?: readonly string[];
  order: 'relevance' | 'oldest' | 'newest';
  /** Whether to include excerpts of many memories rather than few complete ones. */
  spread: boolean;
}

/** Policies of the prompt styles (docs/decisions/0040). */
export const RECALL_POLICIES: Readonly<Record<PromptStyle, RecallPolicy>> = {
  BALANCED: {
    minRelevance: 0.2,
    minRelative: 0.4,
    words: 1,
    neighbours: true,
    maxMemories: 4,
    minFit: 0.1,
    context: 0.7,
    order: 'relevance',
    spread: false,
  },
  /** Requires a large share of the question, and more than one word. */
  STRICT: {
    minRelevance: 0.4,
    minRelative: 0.5,
    words: 2,
    neighbours: false,
    maxMemories: 3,
    minFit: MIN_FIT,
    context: 0.5,
    order: 'relevance',
    spread: false,
  },
  /** The topic of the conversation counts as much as the latest message; in chronological order. */
  CONTEXTUAL: {
    minRelevance: 0.2,
    minRelative: 0.3,
    words: 1,
    neighbours: true,
    maxMemories: 6,
    minFit: 0,
    context: 1,
    order: 'oldest',
    spread: true,
  },
  /** Prefers too many memories to none. */
  RECALL_HEAVY: {
    minRelevance: 0.06,
    minRelative: 0,
    words: 1,
    neighbours: true,
    maxMemories: 10,
    minFit: 0,
    context: 0.8,
    order: 'relevance',
    spread: true,
  },
  /** Prefers none to an irrelevant one: only the best memory and those about as good. */
  PRECISION_HEAVY: {
    minRelevance: 0.4,
    minRelative: 0.85,
    words: 1,
    neighbours: false,
    maxMemories: 2,
    minFit: MIN_FIT,
    context: 0.5,
    order: 'relevance',
    spread: false,
  },
  /** Only the user's preferences, not activities; newest first. */
  PREFERENCE_ONLY: {
    minRelevance: 0.06,
    minRelative: 0,
    words: 1,
    neighbours: true,
    maxMemories: 5,
    minFit: 0,
    context: 0.7,
    categories: ['preference'],
    order: 'newest',
    spread: true,
  },
};

/** A memory with its relevance to the question, 0 to 1. */
export interface ScoredMemory extends RecallHit {
  relevance: number;
  /** Relevance, weighted by its place among the results: what the search knows beyond words. */
  priority: number;
}

/** Factor for a match of a single word: "and how old is she?" leaves only `old`, which matches many memories. */
const ONE_WORD_FACTOR = 0.7;

/** Relevance of a search result to one question. */
export function computeRelevance({ coverage, why }: RecallHit, { neighbours }: RecallPolicy): number {
  const words = why.words.length + (neighbours ? why.beside.length : 0);
  if (words === 0 && !why.timely) return 0;
  // A backend may return values out of range.
  const share = Math.min(1, Math.max(0, coverage || 0));
  return share * (words > 1 || why.timely ? 1 : ONE_WORD_FACTOR);
}

/** The memories that a style selects, by priority. */
export function selectMemories(found: readonly ScoredMemory[], policy: RecallPolicy): ScoredMemory[] {
  const ranked = found
    .filter(({ category }) => !policy.categories || (category !== undefined && policy.categories.includes(category)))
    .filter(({ why }) => why.timely || why.words.length + (policy.neighbours ? why.beside.length : 0) >= policy.words)
    .toSorted((a, b) => b.priority - a.priority || (b.at ?? 0) - (a.at ?? 0));
  const best = ranked.reduce((max, { relevance }) => Math.max(max, relevance), 0);
  const minRelevance = Math.max(policy.minRelevance, best * policy.minRelative);
  return ranked.filter(({ relevance }) => relevance >= minRelevance).slice(0, policy.maxMemories);
}

/** Sorts memories in the order of the style. */
export function sortMemories<T extends Pick<RecallHit, 'at'>>(memories: readonly T[], { order }: RecallPolicy): T[] {
  if (order === 'relevance') return [...memories];
  const sign = order === 'oldest' ? 1 : -1;
  // Memories without a time count as the oldest.
  return memories.toSorted((a, b) => sign * ((a.at ?? -Infinity) - (b.at ?? -Infinity) || 0));
}
