import type { MemoryCategory } from './types.ts';

/** Kinds of memories as the app names them, in the order that it shows them in. */
export const CATEGORIES: Readonly<Record<MemoryCategory, { one: string; many: string }>> = {
  fact: { one: 'Fact', many: 'Facts' },
  preference: { one: 'Preference', many: 'Preferences' },
  decision: { one: 'Decision', many: 'Decisions' },
  task: { one: 'Task', many: 'Tasks' },
  event: { one: 'Event', many: 'Events' },
  other: { one: 'Other', many: 'Other' },
};

const isCategory = (name: string): name is MemoryCategory => Object.hasOwn(CATEGORIES, name);

export const categoryNames = Object.keys(CATEGORIES).filter(isCategory);

/** What a category is called; one that this build does not know, by its own name. */
export const categoryWord = (name: string): string => (isCategory(name) ? CATEGORIES[name].one : name);

/** How many there are of each category, in their order; those of which there is none are left out. */
export const countsOf = (counts: Partial<Record<MemoryCategory, number>>): { category: MemoryCategory; count: number }[] =>
  categoryNames.flatMap((category) => {
    const count = counts[category];
    return count === undefined ? [] : [{ category, count }];
  });
