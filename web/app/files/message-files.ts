import type { HistoryMessage, MessagePart } from '#shared/rpc/record-schemas.ts';
import { m } from '../i18n/messages.ts';
import type { PickedFile } from '../state/page-db.ts';

/** A file of a message: with its bytes (base64), or only its name and size. */
export interface MessageFile {
  filename: string;
  mimeType: string;
  size: number | null;
  content: string | null;
  /** Stored location: message and index of the file. */
  stored?: { messageId: string; index: number };
  /** See `PickedFile`. */
  drawing?: { id: string; notes: string };
  pasted?: boolean;
}

/** Whether browsers can show a file as a picture. */
export const isDisplayableImage = ({ mimeType }: MessageFile): boolean => /^image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml)$/.test(mimeType);

/** The files of a stored message. A history leaves out the bytes of large ones. */
export function getMessageFiles({ id, content, attachments = [] }: HistoryMessage): MessageFile[] {
  const parts = typeof content === 'string' ? [] : content.filter((part) => part.type !== 'text');
  const count = Math.max(parts.length, attachments.length);
  return Array.from({ length: count }, (_, index) => {
    const [part, info] = [parts[index], attachments[index]];
    return {
      filename: part?.filename ?? info?.filename ?? m.chat_picture(),
      mimeType: part?.mimeType ?? info?.mimeType ?? '',
      size: info?.size ?? null,
      content: part?.data || null,
      stored: { messageId: id, index },
    };
  });
}

/** Adds the files that were picked for a message, with their bytes. */
export function withPickedFiles(message: HistoryMessage, picked: readonly PickedFile[]): HistoryMessage {
  const parts: MessagePart[] = picked.map(({ filename, mimeType, content }) => ({
    type: mimeType.startsWith('image/') ? 'image' : 'file',
    mimeType,
    filename,
    data: content,
  }));
  return { ...message, content: [{ type: 'text', text: getContentText(message.content) }, ...parts] };
}

/** The text of a stored message, without the line about content that a history left out; empty if the text itself was left out. */
export function getMessageText({ content, leftOut }: HistoryMessage): string {
  if (typeof content !== 'string') return getContentText(content);
  return leftOut ? content.replace(/(^|\n\n)\[[\d,.]+ KiB left out here\]$/, '') : content;
}

/** The text of a message without its pictures and files. */
export function getContentText(content: HistoryMessage['content']): string {
  return typeof content === 'string' ? content : content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}
