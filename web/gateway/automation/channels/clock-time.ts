/** Formats milliseconds since 1970 as `14:05:09 UTC`. */
export const formatClockTime = (at: number): string => `${new Date(at).toISOString().slice(11, 19)} UTC`;
