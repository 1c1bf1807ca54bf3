import type { HistoryMessage } from '#shared/rpc/record-schemas.ts';

/**
 * Replaces the shown messages by a newly read page (the newest messages of the active branch). Messages above it are kept if the page
 * overlaps with them; the second value says whether it did.
 */
export function mergePage(
  loaded: readonly HistoryMessage[],
  page: readonly HistoryMessage[],
): { messages: HistoryMessage[]; kept: boolean } {
  const first = page[0];
  const at = first ? loaded.findIndex((message) => message.id === first.id) : -1;
  return at > 0 ? { messages: [...loaded.slice(0, at), ...page], kept: true } : { messages: [...page], kept: at === 0 };
}

/** Adds a message that hangs at `parentId`; null where its parent is not shown, so that the branch must be read again. */
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

/** The messages up to the last one of the person: what a new reply is put under. */
export function trimToLastUserMessage(loaded: readonly HistoryMessage[]): HistoryMessage[] {
  const at = loaded.findLastIndex(({ role }) => role === 'user');
  return at < 0 ? [...loaded] : loaded.slice(0, at + 1);
}

// eslint-disable-next-line no-control-regex
const CONTROL_CHARS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** A text as the gateway stores it, to find a sent message among stored ones. */
export function toStoredText(text: string): string {
  return text.replaceAll('\r\n', '\n').normalize('NFC').replace(CONTROL_CHARS, '').trim();
}
