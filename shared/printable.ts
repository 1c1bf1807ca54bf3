/** Control, format and unassigned characters and line separators, except line breaks and the joiners that scripts need. */
const INVISIBLE = /(?![\n\u200c\u200d])[\p{C}\p{Zl}\p{Zp}]/gu;

/** Replaces invisible characters: some reverse the order of the following text, others hide it. */
export const escapeInvisible = (text: string, escape: (char: string) => string): string => text.replace(INVISIBLE, escape);

/** Escapes invisible characters as `\u{202e}` in untrusted text on which a user bases a decision. */
export const toPrintable = (text: string): string => escapeInvisible(text, (char) => `\\u{${char.codePointAt(0)?.toString(16) ?? ''}}`);
