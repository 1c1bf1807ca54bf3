/** Control, format and unassigned characters and line separators, except line breaks and the joiners that scripts need. */
const INVISIBLE = /(?![\n\u200c\u200d])[\p{C}\p{Zl}\p{Zp}]/gu;

/** Replaces characters without a shape: some reverse the order of the text after them, and some hide. */
export const escapeInvisible = (text: string, escape: (char: string) => string): string => text.replace(INVISIBLE, escape);

/** Text of others for a person who decides by it, with invisible characters escaped as `\u{202e}`. */
export const toPrintable = (text: string): string => escapeInvisible(text, (char) => `\\u{${char.codePointAt(0)?.toString(16) ?? ''}}`);
