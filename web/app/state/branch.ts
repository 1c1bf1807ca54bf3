import type { HistoryMessage } from '#shared/rpc/record-schemas.ts';

/**
 * Replaces the shown messages by a newly read page (the newest messages of the active branch). Messages above it stay if the page
 * overlaps with them: `isContinued`.
 */
export function mergePage(
  loaded: readonly HistoryMessage[],
  page: readonly HistoryMessage[],
): { messages: HistoryMessage[]; isContinued: boolean } {
  const first = page[0];
  const at = first ? loaded.findIndex((message) => message.id === first.id) : -1;
  return at > 0 ? { messages: [...loaded.slice(0, at), ...page], isContinued: true } : { messages: [...page], isContinued: at === 0 };
}

/** Adds a message after `parentId`; null if its parent is not loaded, so that the branch must be reloaded. */
export function insertMessage(
  loaded: readonly HistoryMessage[],
  message: HistoryMessage,
  parentId: string | null,
): HistoryMessage[] | null {
  if (loaded.some(({ id }) => id === message.id)) return [...loaded];
  if (parentId === null) return [message];
  const at = loaded.findLastIndex(({ id }) => id === parentId);
  return at < 0 ? null : [...loaded.slice(0, at + 1), message];
}

/** The messages up to the last one of the person, which a new reply follows. */
export function trimToLastUserMessage(loaded: readonly HistoryMessage[]): HistoryMessage[] {
  const at = loaded.findLastIndex(({ role }) => role === 'user');
  return at < 0 ? [...loaded] : loaded.slice(0, at + 1);
}

// eslint-disable-next-line no-control-regex
const CONTROL_CHARS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Normalizes a text as the gateway does, to find a sent message among stored ones. */
export function toStoredText(text: string): string {
  return text.replaceAll('\r\n', '\n').normalize('NFC').replace(CONTROL_CHARS, '').trim();
}
