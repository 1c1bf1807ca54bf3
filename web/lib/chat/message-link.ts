import type { Item } from './items.ts';

const PREFIX = '#message-';

/** The address of a message in its chat. */
export const messageLink = (agentId: string, sessionId: string, messageId: string): string =>
  `/chat/${encodeURIComponent(agentId)}/${encodeURIComponent(sessionId)}${PREFIX}${encodeURIComponent(messageId)}`;

/** The message that an address' fragment names; null for none. */
export function linkedMessage(hash: string): string | null {
  if (!hash.startsWith(PREFIX)) return null;
  try {
    return decodeURIComponent(hash.slice(PREFIX.length)) || null;
  } catch {
    return null;
  }
}

/** Index of the item that shows a message; -1 if none. */
export const itemOf = (items: readonly Item[], messageId: string): number =>
  items.findIndex((item) => (item.kind === 'user' ? item.message.id === messageId : item.kind === 'reply' && item.ids.includes(messageId)));
