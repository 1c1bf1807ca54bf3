/** So many of a thing, whose word takes an s: `1 call`, `1,200 calls`. */
export const counted = (value: number, one: string): string => `${value.toLocaleString('en')} ${value === 1 ? one : `${one}s`}`;
