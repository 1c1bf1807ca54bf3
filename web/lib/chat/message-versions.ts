import type { ChatItem } from './chat-items.ts';

/** Versions at one place of a chat: the messages' ids, oldest first, and the index of the visible one. */
export interface MessageVersions {
  ids: readonly string[];
  at: number;
}

export type VersionStep = 'earlier' | 'later';

/** Versions of an item, if there are several. `known`: by message id, as the gateway reports them. */
export function findVersions(item: ChatItem, known: Readonly<Record<string, readonly string[]>>): MessageVersions | null {
  const ids = item.kind === 'user' ? [item.message.id] : item.kind === 'reply' ? item.ids : [];
  for (const id of ids) {
    const all = known[id];
    if (all && all.length > 1) return { ids: all, at: all.indexOf(id) };
  }
  return null;
}
