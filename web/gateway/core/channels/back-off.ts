/** The longest wait between two tries. */
const MOST_MS = 15 * 60_000;

/** How long to wait after so many failures in a row: twice as long each time. */
export const backOff = (failures: number, leastMs: number): number => Math.min(MOST_MS, leastMs * 2 ** Math.min(20, failures - 1));
