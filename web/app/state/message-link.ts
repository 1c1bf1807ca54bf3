import type { ChatItem } from './chat-items.ts';

const HASH_PREFIX = '#message-';

/** The address of a message in its chat. */
export const toMessageLink = (agentId: string, sessionId: string, messageId: string): string =>
  `/chat/${encodeURIComponent(agentId)}/${encodeURIComponent(sessionId)}${HASH_PREFIX}${encodeURIComponent(messageId)}`;

/** Id of the message in the fragment of an address; null if none. */
export function parseMessageHash(hash: string): string | null {
  if (!hash.startsWith(HASH_PREFIX)) return null;
  try {
    return decodeURIComponent(hash.slice(HASH_PREFIX.length)) || null;
  } catch {
    return null;
  }
}

/** Index of the item that shows a message; -1 if none. */
export const findItemIndex = (items: readonly ChatItem[], messageId: string): number =>
  items.findIndex((item) => (item.kind === 'user' ? item.message.id === messageId : item.kind === 'reply' && item.ids.includes(messageId)));
