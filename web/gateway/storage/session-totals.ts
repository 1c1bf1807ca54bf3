import { exportLine } from '../core/sessions.ts';
import type { MessageRecord, SessionRecord } from '../core/vault.ts';
import { joinParts } from './parts.ts';
import type { StoredMessage } from './schema.ts';

const PREVIEW_LENGTH = 160;
const encoder = new TextEncoder();

/** Bytes of the message's line in the session's JSONL export. */
export const exportBytes = (record: MessageRecord): number => encoder.encode(exportLine(record)).length;

/** The same for a stored message, including its attachments, whether they are stored here or not. */
export function storedBytes(stored: StoredMessage): number {
  const parts = typeof stored.content === 'string' || stored.role === 'tool' ? [] : stored.content;
  return parts.reduce((sum, { length = 0 }) => sum + length, exportBytes(joinParts(stored, () => undefined)));
}

/** The first 160 characters of the message's text on one line; empty if it has no text. */
export function previewOf({ content }: Pick<MessageRecord, 'content'>): string {
  const text = typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join(' ');
  // Cut before collapsing white space too, since a message may have half a million characters.
  const line = text
    .slice(0, PREVIEW_LENGTH * 20)
    .replace(/\s+/gu, ' ')
    .trim();
  return [...line.slice(0, PREVIEW_LENGTH * 2)].slice(0, PREVIEW_LENGTH).join('');
}

/** The session after `messages` were added to it: count and size cover every branch, as the export does. */
export function withMessages(session: SessionRecord, messages: readonly MessageRecord[]): SessionRecord {
  return {
    ...session,
    messageCount: session.messageCount + messages.length,
    size: messages.reduce((sum, message) => sum + exportBytes(message), session.size),
  };
}

/** The session without a stored message: only count and size change. */
export const withoutMessage = (session: SessionRecord, message: StoredMessage): SessionRecord => ({
  ...session,
  messageCount: session.messageCount - 1,
  size: session.size - storedBytes(message),
});

/** The session with its head at `message`, whose text becomes the preview if it has any and is not a tool result. */
export function withHead(session: SessionRecord, message: MessageRecord): SessionRecord {
  return { ...session, headId: message.id, preview: previewAt(message) || session.preview };
}

/** Preview text of a session whose branch ends here; empty for tool messages, for which the message above decides. */
export const previewAt = (message: Pick<MessageRecord, 'role' | 'content'>): string => (message.role === 'tool' ? '' : previewOf(message));

/** The session without messages. */
export const emptied = (session: SessionRecord): SessionRecord => ({ ...session, messageCount: 0, size: 0, preview: '', headId: null });
