/** A word as a POSIX shell (and PowerShell, for paths without quotes) reads it. */
export const shellQuote = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

export interface Serving {
  /** The canonical origin. */
  origin: string;
  /** A single-use code for the link. */
  code: string;
  tokenFile: string;
}

/** What a serving gateway prints: the app's address, the WebSocket's, and `/v1` with a call that works when pasted. */
export function banner({ origin, code, tokenFile }: Serving): string[] {
  const body = JSON.stringify({ model: 'perch/main', messages: [{ role: 'user', content: 'hello' }] });
  const curl = [
    `curl ${origin}/v1/chat/completions`,
    `-H "Authorization: Bearer $(cat ${shellQuote(tokenFile)})"`,
    `-H 'Content-Type: application/json'`,
    `-d '${body}'`,
  ].join(' ');
  return [`App        ${linkUrl(origin, code)}`, `WebSocket  ${origin.replace(/^http/, 'ws')}/ws`, `API        ${origin}/v1   ${curl}`];
}

export const linkUrl = (origin: string, code: string): string => `${origin}/#link=${code}`;
