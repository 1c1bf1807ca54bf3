/** Called between pieces of long work: now and then it lets others have their turn. */
export type Pace = () => Promise<void>;

/** For who has nobody else to let through. */
export const unhurried: Pace = () => Promise.resolve();
