/** Reasons for a compaction. */
export const CompactionTrigger = { THRESHOLD: 'threshold', MANUAL: 'manual', OVERFLOW: 'overflow' } as const;
export type CompactionTrigger = (typeof CompactionTrigger)[keyof typeof CompactionTrigger];
