import type { MemoryEntry } from '#shared/rpc/methods/memory-contracts.ts';

export type { MemoryDay, MemoryEntry, MemoryMatch, RecallHistoryEntry } from '#shared/rpc/methods/memory-contracts.ts';
export type { RecalledMemory } from '#shared/rpc/record-schemas.ts';

export type MemoryCategory = MemoryEntry['category'];
