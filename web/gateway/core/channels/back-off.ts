/** Maximum delay between two attempts. */
const MOST_MS = 15 * 60_000;

/** Delay after a number of consecutive failures, in milliseconds: doubles with each one. */
export const backOff = (failures: number, leastMs: number): number => Math.min(MOST_MS, leastMs * 2 ** Math.min(20, failures - 1));
