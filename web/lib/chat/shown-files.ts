import type { HistoryMessage } from '#shared/rpc/records.ts';

/** A file as it is shown: with its bytes (base64), or only its name and size. */
export interface ShownFile {
  filename: string;
  mimeType: string;
  size: number | null;
  content: string | null;
  /** Where the gateway has it: which of a message's files. */
  stored?: { messageId: string; index: number };
}

/** The files of a stored message. A history leaves out the bytes of large ones. */
export function filesOf({ id, content, attachments = [] }: HistoryMessage): ShownFile[] {
  const parts = typeof content === 'string' ? [] : content.filter((part) => part.type !== 'text');
  const count = Math.max(parts.length, attachments.length);
  return Array.from({ length: count }, (_, index) => {
    const [part, info] = [parts[index], attachments[index]];
    return {
      filename: part?.filename ?? info?.filename ?? 'Picture',
      mimeType: part?.mimeType ?? info?.mimeType ?? '',
      size: info?.size ?? null,
      content: part?.data || null,
      stored: { messageId: id, index },
    };
  });
}
