/** Minimum free bytes on the journal's disk; with less, no reserve is set aside. */
export const MIN_RESERVE_FREE_BYTES = 16 * 1024 * 1024;
