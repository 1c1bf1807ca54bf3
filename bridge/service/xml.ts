/** A text as XML has it between tags, in ASCII: a reader need not be told in what it is written. */
export const xml = (text: string): string =>
  text.replace(/[&<>]|[^\x20-\x7e]/gu, (char) => `&#x${char.codePointAt(0)?.toString(16) ?? ''};`);
