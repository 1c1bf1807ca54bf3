import type { HistoryMessage } from '#shared/rpc/records.ts';

/** Outside sources of messages and of their summaries that no person has reviewed, each once. */
export const collectSources = (messages: readonly Pick<HistoryMessage, 'outside' | 'compaction'>[]): string[] => [
  ...new Set(messages.flatMap(({ outside = [], compaction }) => [...outside, ...(compaction?.outside ?? [])])),
];
