import type { Item } from './items.ts';

/** What was said in one place of a chat: the messages' ids, the first said first, and which of them is shown. */
export interface Versions {
  ids: readonly string[];
  at: number;
}

export type Step = 'earlier' | 'later';

/** Those of an item, where there are several. `known`: by message id, as the gateway tells. */
export function versionsOf(item: Item, known: Readonly<Record<string, readonly string[]>>): Versions | null {
  const ids = item.kind === 'user' ? [item.message.id] : item.kind === 'reply' ? item.ids : [];
  for (const id of ids) {
    const all = known[id];
    if (all && all.length > 1) return { ids: all, at: all.indexOf(id) };
  }
  return null;
}
