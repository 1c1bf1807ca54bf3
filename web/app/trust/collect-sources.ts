import type { HistoryMessage } from '#shared/rpc/record-schemas.ts';
import { getMessageFiles } from '../files/message-files.ts';

/** Outside sources of messages and of their summaries that no person has reviewed, each once. */
export const collectSources = (messages: readonly Pick<HistoryMessage, 'outside' | 'compaction'>[]): string[] => [
  ...new Set(messages.flatMap(({ outside = [], compaction }) => [...outside, ...(compaction?.outside ?? [])])),
];

/** Attachments of messages as sources, for a chat that is not stored and therefore not labelled by the gateway. */
export const collectAttachments = (messages: readonly HistoryMessage[]): string[] => [
  ...new Set(
    messages.flatMap((message) =>
      getMessageFiles(message).map(({ filename, mimeType }) => `${mimeType.startsWith('image/') ? 'picture' : 'document'}:${filename}`),
    ),
  ),
];
