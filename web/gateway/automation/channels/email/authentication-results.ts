/** Strength of the receiving server's proof that a mail is from its `From` address. */
export type SenderProof =
  /** By a server that the settings name. */
  | 'proven'
  /** By the topmost header, whose server nobody has named: if the mailbox's server adds none, a sender could have written it. */
  | 'claimed'
  | 'failed'
  /** The server has added no results. */
  | 'missing';

interface MethodResult {
  method: string;
  result: string;
  /** Such as `header.from`, in lower case. */
  properties: Map<string, string>;
}

interface AuthenticationResults {
  /** Id of the server that checked; empty if it names none, as Outlook does. */
  server: string;
  results: MethodResult[];
}

/** Servers of providers that remove headers with these names from what they receive (RFC 8601, section 5). */
const KNOWN_SERVERS: readonly [host: RegExp, server: string][] = [
  [/(^|\.)(gmail|googlemail)\.com$/, 'mx.google.com'],
  [/(^|\.)fastmail\.com$/, 'messagingengine.com'],
  [/(^|\.)mail\.me\.com$/, 'icloud.com'],
];
const MAX_HEADER_CHARS = 10_000;

/** Authentication server of a known provider by the name of its IMAP server. */
export const findKnownServer = (imapHost: string): string | undefined => KNOWN_SERVERS.find(([host]) => host.test(imapHost))?.[1];

/** Reads the `Authentication-Results` headers (RFC 8601) of a mail, in order. `trusted`: name of the server, or of its domain. */
export function proveSender(headers: readonly string[], domain: string, trusted: string | undefined): SenderProof {
  const parsed = headers.map(parseResults);
  // Senders can only add headers below those of the server, so each of its names counts once. Some have a name for each method.
  const counted =
    trusted === undefined
      ? parsed.slice(0, 1)
      : parsed.filter(
          ({ server }, index) =>
            (server === trusted.toLowerCase() || server.endsWith(`.${trusted.toLowerCase()}`)) &&
            parsed.findIndex((other) => other.server === server) === index,
        );
  const find = (method: string): AuthenticationResults | undefined =>
    counted.find(({ results }) => results.some((each) => each.method === method));
  const decisive = find('dmarc') ?? find('dkim');
  if (!decisive) return counted.length === 0 ? 'missing' : 'failed';
  if (!hasAlignedPass(decisive.results, domain)) return 'failed';
  return trusted === undefined ? 'claimed' : 'proven';
}

function hasAlignedPass(results: readonly MethodResult[], domain: string): boolean {
  const dmarc = results.find(({ method }) => method === 'dmarc');
  if (dmarc && dmarc.result !== 'none') return dmarc.result === 'pass' && isFrom(dmarc, domain);
  return results.some(({ method, result, properties }) => {
    if (method !== 'dkim' || result !== 'pass') return false;
    const signer = properties.get('header.d') ?? properties.get('header.i')?.split('@').at(-1);
    return signer !== undefined && signer.includes('.') && (domain === signer || domain.endsWith(`.${signer}`));
  });
}

/** Whether a result is about the domain of the sender's address. */
function isFrom({ properties }: MethodResult, domain: string): boolean {
  const from = properties.get('header.from')?.split('@').at(-1);
  return from === undefined || from === domain;
}

function parseResults(header: string): AuthenticationResults {
  const [first = '', ...rest] = removeComments(header.slice(0, MAX_HEADER_CHARS).toLowerCase()).split(';');
  const isNamed = !first.includes('=');
  const [server = ''] = isNamed ? first.trim().split(/\s+/) : [];
  return { server, results: (isNamed ? rest : [first, ...rest]).flatMap((text) => parseResult(text) ?? []) };
}

function parseResult(text: string): MethodResult | undefined {
  const [, method, result, rest = ''] = /^\s*([\w-]+)(?:\/\d+)?\s*=\s*([\w-]+)([^]*)$/.exec(text) ?? [];
  if (method === undefined || result === undefined) return undefined;
  const properties = new Map<string, string>();
  for (const [, name = '', quoted, value = ''] of rest.matchAll(/([\w-]+\.[\w-]+)\s*=\s*(?:"([^"]*)"|([^\s;]+))/g))
    if (!properties.has(name)) properties.set(name, quoted ?? value);
  return { method, result, properties };
}

/** Removes comments, which nest, and what is quoted within other text keeps its place. */
function removeComments(text: string): string {
  let depth = 0;
  let isQuoted = false;
  let kept = '';
  for (let index = 0; index < text.length; index++) {
    const char = text[index] ?? '';
    if (char === '\\' && (isQuoted || depth > 0)) index++;
    else if (char === '"' && depth === 0) {
      isQuoted = !isQuoted;
      kept += char;
    } else if (isQuoted) {
      // A separator within quotes separates nothing.
      if (char !== ';') kept += char;
    } else if (char === '(') depth++;
    else if (char === ')') depth = Math.max(0, depth - 1);
    else if (depth === 0) kept += char;
  }
  return kept;
}
