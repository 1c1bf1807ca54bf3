/** Why a conversation is summarised (decisions, "Memory, recall …"). */
export const CompactionTrigger = { THRESHOLD: 'threshold', MANUAL: 'manual', OVERFLOW: 'overflow' } as const;
export type CompactionTrigger = (typeof CompactionTrigger)[keyof typeof CompactionTrigger];
