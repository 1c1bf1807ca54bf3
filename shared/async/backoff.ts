/** Maximum delay between two attempts. */
const MAX_DELAY_MS = 15 * 60_000;

/** Delay after a number of consecutive failures, in milliseconds: doubles with each one. */
export const computeBackoff = (failures: number, minMs: number): number => Math.min(MAX_DELAY_MS, minMs * 2 ** Math.min(20, failures - 1));
