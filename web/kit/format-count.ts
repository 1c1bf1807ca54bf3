/** Formats a number with a noun whose plural ends in s: `1 call`, `1,200 calls`. */
export const formatCount = (value: number, noun: string): string => `${value.toLocaleString('en')} ${value === 1 ? noun : `${noun}s`}`;
