/**
 * Text of others for a person who is to decide by it: characters without a shape are written out (`\u{202e}`), for some turn the order of the rest around, and
 * some hide. Line breaks stay, and the joiners that scripts need.
 */
export const legible = (text: string): string =>
  text.replace(/(?![\n\u200c\u200d])[\p{C}\p{Zl}\p{Zp}]/gu, (char) => `\\u{${char.codePointAt(0)?.toString(16) ?? ''}}`);
