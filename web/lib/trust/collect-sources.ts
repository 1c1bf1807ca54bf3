import type { HistoryMessage } from '#shared/rpc/record-schemas.ts';
import { getMessageFiles } from '#lib/chat/message-files.ts';

/** Outside sources of messages and of their summaries that no person has reviewed, each once. */
export const collectSources = (messages: readonly Pick<HistoryMessage, 'outside' | 'compaction'>[]): string[] => [
  ...new Set(messages.flatMap(({ outside = [], compaction }) => [...outside, ...(compaction?.outside ?? [])])),
];

/** Documents and pictures among messages, as sources: for a chat that no gateway keeps, and so none labels. */
export const collectAttachments = (messages: readonly HistoryMessage[]): string[] => [
  ...new Set(
    messages.flatMap((message) =>
      getMessageFiles(message).map(({ filename, mimeType }) => `${mimeType.startsWith('image/') ? 'picture' : 'document'}:${filename}`),
    ),
  ),
];
