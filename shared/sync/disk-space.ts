/** With less space than this on the journal's disk none is set aside. */
export const MIN_RESERVE_FREE_BYTES = 16 * 1024 * 1024;
