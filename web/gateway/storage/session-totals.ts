import { toExportLine } from './session-views.ts';
import type { MessageRecord, SessionRecord } from './chat-records.ts';
import { joinParts } from './message-parts.ts';
import type { StoredMessage } from './vault-schema.ts';

const MAX_PREVIEW_CHARS = 160;
const encoder = new TextEncoder();

/** Bytes of the message's line in the session's JSONL export. */
export const computeExportBytes = (record: MessageRecord): number => encoder.encode(toExportLine(record)).length;

/** The same for a stored message, including its attachments, whether they are stored here or not. */
export function computeStoredBytes(stored: StoredMessage): number {
  const parts = typeof stored.content === 'string' || stored.role === 'tool' ? [] : stored.content;
  return parts.reduce((sum, { length = 0 }) => sum + length, computeExportBytes(joinParts(stored, () => undefined)));
}

/** The first 160 characters of the message's text on one line; empty if it has no text. */
function toPreview({ content }: Pick<MessageRecord, 'content'>): string {
  const text = typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join(' ');
  // Cut before collapsing white space too, since a message may have half a million characters.
  const line = text
    .slice(0, MAX_PREVIEW_CHARS * 20)
    .replace(/\s+/gu, ' ')
    .trim();
  return [...line.slice(0, MAX_PREVIEW_CHARS * 2)].slice(0, MAX_PREVIEW_CHARS).join('');
}

/** The session after `messages` were added to it: count and size cover every branch, as the export does. */
export function addMessages(session: SessionRecord, messages: readonly MessageRecord[]): SessionRecord {
  return {
    ...session,
    messageCount: session.messageCount + messages.length,
    size: messages.reduce((sum, message) => sum + computeExportBytes(message), session.size),
  };
}

/** The session without a stored message: only count and size change. */
export const removeMessage = (session: SessionRecord, message: StoredMessage): SessionRecord => ({
  ...session,
  messageCount: session.messageCount - 1,
  size: session.size - computeStoredBytes(message),
});

/** The session with its head at `message`, whose text becomes the preview if it has any and is not a tool result. */
export function setHead(session: SessionRecord, message: MessageRecord): SessionRecord {
  return { ...session, headId: message.id, preview: getPreview(message) || session.preview };
}

/** Preview text of a session whose branch ends here; empty for tool messages, for which the message above decides. */
export const getPreview = (message: Pick<MessageRecord, 'role' | 'content'>): string => (message.role === 'tool' ? '' : toPreview(message));

/** The session without messages. */
export const clearMessages = (session: SessionRecord): SessionRecord => ({
  ...session,
  messageCount: 0,
  size: 0,
  preview: '',
  headId: null,
});
