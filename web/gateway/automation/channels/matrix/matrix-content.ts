import type { IncomingMessage } from '../../../storage/records/channel-state.ts';
import { toMessageHtml } from '../markdown-html.ts';

/** An event may have 65,536 bytes; half of that is left for the formatted text. */
const MAX_FORMATTED_CHARS = 30_000;
/** Field of the account's messages with the id of the piece: by it, a piece that may have been sent is found again. */
export const PIECE_FIELD = 'perch.piece';

/** A text message, with formatting if it has any. */
export function toTextContent(text: string): Record<string, unknown> {
  const html = toMessageHtml(text);
  const isPlain = html === `<p>${text.trim()}</p>` || html.length > MAX_FORMATTED_CHARS;
  return {
    ...{ msgtype: 'm.text', body: text },
    ...(isPlain ? {} : { format: 'org.matrix.custom.html', formatted_body: html }),
    // Names in the text must not notify anybody.
    'm.mentions': {},
  };
}

/** The relation of a reply to its message: within its thread; in a group, as a reply. */
export function toRelation({
  thread,
  platformId,
  isGroup,
}: Pick<IncomingMessage, 'thread' | 'platformId' | 'isGroup'>): Record<string, unknown> {
  const reply = platformId === undefined ? {} : { 'm.in_reply_to': { event_id: platformId } };
  if (thread !== undefined) return { 'm.relates_to': { rel_type: 'm.thread', event_id: thread, is_falling_back: true, ...reply } };
  return isGroup === true && platformId !== undefined ? { 'm.relates_to': reply } : {};
}
