/** A command for a person to read, each part that is not plain in quotes: where one begins and ends must be seen. */
export const commandLine = (command: string, args: readonly string[]): string => [command, ...args].map(visible).join(' ');

/** What has no shape of its own is written out: some of it would turn the order of the rest around. */
export function visible(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  const code = (char: string): string => `\\u{${char.codePointAt(0)?.toString(16) ?? ''}}`;
  return JSON.stringify(text).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, code);
}
