/** A command in readable form: parts with special characters are quoted, so that their boundaries are visible. */
export const formatCommandLine = (command: string, args: readonly string[]): string => [command, ...args].map(quoteArgument).join(' ');

/** Escapes invisible characters: some of them would reverse the order of the rest. */
export function quoteArgument(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  const code = (char: string): string => `\\u{${char.codePointAt(0)?.toString(16) ?? ''}}`;
  return JSON.stringify(text).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, code);
}
