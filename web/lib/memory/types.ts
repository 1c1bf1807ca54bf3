import type { MemoryEntry } from '#shared/rpc/methods/memory.ts';

export type { MemoryDay, MemoryEntry, MemoryFound, RecalledBefore } from '#shared/rpc/methods/memory.ts';
export type { RecalledMemory } from '#shared/rpc/records.ts';

export type MemoryCategory = MemoryEntry['category'];
