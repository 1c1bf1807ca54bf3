/** A word as a POSIX shell (and PowerShell, for paths without quotes) reads it. */
export const shellQuote = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

export interface Serving {
  /** The canonical origin. */
  origin: string;
  /** Where other machines' browsers open the app, if they can. */
  elsewhere: string | undefined;
  /** A new single-use code for a link. */
  issueCode(): string;
  tokenFile: string;
}

/** What a serving gateway prints: the app's address, the WebSocket's, and `/v1` with a call that works when pasted; the app's for another device, where it is served to one. */
export function banner({ origin, elsewhere, issueCode, tokenFile }: Serving): string[] {
  const body = JSON.stringify({ model: 'perch/main', messages: [{ role: 'user', content: 'hello' }] });
  const curl = [
    `curl ${origin}/v1/chat/completions`,
    `-H "Authorization: Bearer $(cat ${shellQuote(tokenFile)})"`,
    `-H 'Content-Type: application/json'`,
    `-d '${body}'`,
  ].join(' ');
  return [
    `App        ${linkUrl(origin, issueCode())}`,
    `WebSocket  ${origin.replace(/^http/, 'ws')}/ws`,
    `API        ${origin}/v1   ${curl}`,
    ...(elsewhere === undefined ? [] : [`Network    ${linkUrl(elsewhere, issueCode())}`]),
  ];
}

export const linkUrl = (origin: string, code: string): string => `${origin}/#link=${code}`;
