import { m } from '#app/i18n/messages.ts';
import type { MemoryCategory } from './types.ts';

/** Labels of memory categories, in their order on screen. */
const CATEGORIES: Readonly<Record<MemoryCategory, () => string>> = {
  fact: () => m.memory_words_one_fact(),
  preference: () => m.memory_words_one_preference(),
  decision: () => m.memory_words_one_decision(),
  task: () => m.memory_words_one_task(),
  event: () => m.memory_words_one_event(),
  other: () => m.memory_words_one_other(),
};

const isCategory = (name: string): name is MemoryCategory => Object.hasOwn(CATEGORIES, name);

export const getCategoryNames = Object.keys(CATEGORIES).filter(isCategory);

/** Label of a category; its own name if this build does not know it. */
export const getCategoryLabel = (name: string): string => (isCategory(name) ? CATEGORIES[name]() : name);

/** Formats the source file and category of a memory. */
export function formatMemorySource(source: string, category: string): string {
  const labels: Readonly<Record<MemoryCategory, () => string>> = {
    fact: () => m.memory_words_source_fact({ source }),
    preference: () => m.memory_words_source_preference({ source }),
    decision: () => m.memory_words_source_decision({ source }),
    task: () => m.memory_words_source_task({ source }),
    event: () => m.memory_words_source_event({ source }),
    other: () => m.memory_words_source_other({ source }),
  };
  return isCategory(category) ? labels[category]() : m.memory_words_source_kind({ source, kind: category });
}

/** The number of memories per category, in order; empty categories are omitted. */
export const toCategoryCounts = (counts: Partial<Record<MemoryCategory, number>>): { category: MemoryCategory; count: number }[] =>
  getCategoryNames.flatMap((category) => {
    const count = counts[category];
    return count === undefined ? [] : [{ category, count }];
  });
