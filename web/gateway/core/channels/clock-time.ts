/** `14:05:09 UTC`, of a time in milliseconds since 1970. */
export const clockTime = (at: number): string => `${new Date(at).toISOString().slice(11, 19)} UTC`;
