import type { FoundMemory } from './result.ts';
import type { PromptStyle } from './settings.ts';

/** How a style chooses among what was found. */
export interface Policy {
  /** How telling a memory has to be at least, 0 to 1, and how telling beside the best one. */
  least: number;
  beside: number;
  /** Words of the question that it has at least, unless it is of a time that the question names. */
  words: number;
  /** Words that only stand beside it count as well. */
  neighbours: boolean;
  most: number;
  /** What earlier turns of the conversation count beside the latest message. */
  context: number;
  /** Only memories of these categories. */
  categories?: readonly string[];
  order: 'relevance' | 'oldest' | 'newest';
  /** Many in part rather than few in full. */
  spread: boolean;
}

/** The styles (interface document 2, section 2.5, names them alone; docs/decisions/0040). */
export const POLICIES: Readonly<Record<PromptStyle, Policy>> = {
  BALANCED: { least: 0.2, beside: 0.4, words: 1, neighbours: true, most: 4, context: 0.7, order: 'relevance', spread: false },
  /** Only what has a good part of the question itself, and not by one word alone. */
  STRICT: { least: 0.4, beside: 0.5, words: 2, neighbours: false, most: 3, context: 0.5, order: 'relevance', spread: false },
  /** What the conversation is about counts as much as its latest message, and is told as it happened. */
  CONTEXTUAL: { least: 0.2, beside: 0.3, words: 1, neighbours: true, most: 6, context: 1, order: 'oldest', spread: true },
  /** Rather too much than nothing. */
  RECALL_HEAVY: { least: 0.06, beside: 0, words: 1, neighbours: true, most: 10, context: 0.8, order: 'relevance', spread: true },
  /** Rather nothing than something that is beside the point: the best one, and what is as good. */
  PRECISION_HEAVY: { least: 0.4, beside: 0.85, words: 1, neighbours: false, most: 2, context: 0.5, order: 'relevance', spread: false },
  /** How the person likes things, and nothing of what they do; what they said last comes first. */
  PREFERENCE_ONLY: {
    least: 0.06,
    beside: 0,
    words: 1,
    neighbours: true,
    most: 5,
    context: 0.7,
    categories: ['preference'],
    order: 'newest',
    spread: true,
  },
};

/** A memory, and how telling it is for what was asked: 0 to 1. */
export interface Judged extends FoundMemory {
  relevance: number;
}

/** What one word of a question alone is worth: `old` is all that "and how old is she?" has, and many things are. */
const ONE_WORD = 0.7;

/** How telling something is that was found for one question. */
export function relevanceOf({ coverage, why }: FoundMemory, { neighbours }: Policy): number {
  const words = why.words.length + (neighbours ? why.beside.length : 0);
  if (words === 0 && !why.timely) return 0;
  // A backend's figures are not ours.
  const share = Math.min(1, Math.max(0, coverage || 0));
  return share * (words > 1 || why.timely ? 1 : ONE_WORD);
}

/** What a style tells of what was found, the most telling first. */
export function chosenOf(found: readonly Judged[], policy: Policy): Judged[] {
  const ranked = found
    .filter(({ category }) => !policy.categories || (category !== undefined && policy.categories.includes(category)))
    .filter(({ why }) => why.timely || why.words.length + (policy.neighbours ? why.beside.length : 0) >= policy.words)
    .toSorted((a, b) => b.relevance - a.relevance || (b.at ?? 0) - (a.at ?? 0));
  const least = Math.max(policy.least, (ranked[0]?.relevance ?? 0) * policy.beside);
  return ranked.filter(({ relevance }) => relevance >= least).slice(0, policy.most);
}

/** The same, in the order in which it is told. */
export function inOrder<T extends Pick<FoundMemory, 'at'>>(memories: readonly T[], { order }: Policy): T[] {
  if (order === 'relevance') return [...memories];
  const sign = order === 'oldest' ? 1 : -1;
  // What does not age is as old as can be.
  return memories.toSorted((a, b) => sign * ((a.at ?? -Infinity) - (b.at ?? -Infinity) || 0));
}
