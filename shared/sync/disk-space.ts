/** With less space than this on the journal's disk none is set aside. */
export const RESERVE_MIN_FREE = 16 * 1024 * 1024;
