/** Awaited between pieces of long work; yields to other tasks from time to time. */
export type Pace = () => Promise<void>;

/** A pace that never yields, for callers without other tasks. */
export const noPace: Pace = () => Promise.resolve();
