/** Quotes an argument for a POSIX shell (and PowerShell, for paths without quotes). */
const quoteForShell = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

interface BannerInfo {
  /** Canonical origin. */
  origin: string;
  /** URL of the app for other machines' browsers, if they can open it. */
  elsewhere: string | undefined;
  /** Creates a single-use code for a link. */
  issueCode(): string;
  tokenFile: string;
}

/**
 * Lines that a serving gateway prints: the app's URL, the WebSocket's, and `/v1` with a working example; also the app's URL for other
 * devices, if available.
 */
export function createBanner({ origin, elsewhere, issueCode, tokenFile }: BannerInfo): string[] {
  const body = JSON.stringify({ model: 'perch/main', messages: [{ role: 'user', content: 'hello' }] });
  const curl = [
    `curl ${origin}/v1/chat/completions`,
    `-H "Authorization: Bearer $(cat ${quoteForShell(tokenFile)})"`,
    `-H 'Content-Type: application/json'`,
    `-d '${body}'`,
  ].join(' ');
  return [
    `App        ${toLinkUrl(origin, issueCode())}`,
    `WebSocket  ${origin.replace(/^http/, 'ws')}/ws`,
    `API        ${origin}/v1   ${curl}`,
    ...(elsewhere === undefined ? [] : [`Network    ${toLinkUrl(elsewhere, issueCode())}`]),
  ];
}

export const toLinkUrl = (origin: string, code: string): string => `${origin}/#link=${code}`;
