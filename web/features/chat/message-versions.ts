import type { ChatItem } from '#app/state/chat-items.ts';

/** Versions of a message: their ids, oldest first, and the index of the visible one. */
export interface MessageVersions {
  ids: readonly string[];
  at: number;
}

export type VersionStep = 'earlier' | 'later';

/** Versions of an item, if there are several. `versions`: by message id, as the gateway reports them. */
export function findVersions(item: ChatItem, versions: Readonly<Record<string, readonly string[]>>): MessageVersions | null {
  const ids = item.kind === 'user' ? [item.message.id] : item.kind === 'reply' ? item.ids : [];
  for (const id of ids) {
    const versionIds = versions[id];
    if (versionIds && versionIds.length > 1) return { ids: versionIds, at: versionIds.indexOf(id) };
  }
  return null;
}
