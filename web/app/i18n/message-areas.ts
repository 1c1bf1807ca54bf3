// Runtime of the compiled messages (web/compile-messages.ts).

/** Messages of an area in the order of the English ones. */
export type AreaMessages = readonly ((inputs: Readonly<Record<string, string | number>>) => string)[];

/** Areas whose English messages are loaded, each with the function that replaces them. */
export const loadedAreas = new Map<string, (messages: AreaMessages) => void>();

/** Called by the English messages of an area when they are loaded. */
export const registerArea = (area: string, replace: (messages: AreaMessages) => void): void => void loadedAreas.set(area, replace);

export const plural = (locale: string, count: string | number, options?: Intl.PluralRulesOptions): string =>
  new Intl.PluralRules(locale, options).select(Number(count));

export const number = (locale: string, count: string | number): string => new Intl.NumberFormat(locale).format(Number(count));
