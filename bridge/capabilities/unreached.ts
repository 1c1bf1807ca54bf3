import { certificateFault } from '../certificate-fault.ts';

interface Reason {
  what: string;
  hint: string;
}

const NO_WAY: Reason = { what: 'no route to the server', hint: 'Check that this computer and the server are on the network.' };
const SILENT: Reason = { what: 'no response in time', hint: 'Check that the server is running and not blocked by a firewall.' };
const HUNG_UP: Reason = { what: 'the server closed the connection early', hint: 'Try again, or check the server’s log.' };
const NO_TLS: Reason = { what: 'the server doesn’t use HTTPS', hint: 'Try an address that starts with http://.' };
const NO_HTTP: Reason = { what: 'the server doesn’t use HTTP', hint: 'Check the address and whether it must start with https://.' };

/** Explanation and advice by error code of Node or its HTTP client. */
const REASONS: ReadonlyMap<string, Reason> = new Map([
  ['ECONNREFUSED', { what: 'connection refused', hint: 'Check the address and that the server is running.' }],
  ['ENOTFOUND', { what: 'host not found', hint: 'Check the address and this computer’s internet connection.' }],
  ['EAI_AGAIN', { what: 'the host name couldn’t be looked up', hint: 'Check this computer’s internet connection.' }],
  ['EHOSTUNREACH', NO_WAY],
  ['ENETUNREACH', NO_WAY],
  ['EHOSTDOWN', NO_WAY],
  ['ETIMEDOUT', SILENT],
  ['UND_ERR_CONNECT_TIMEOUT', SILENT],
  ['UND_ERR_HEADERS_TIMEOUT', SILENT],
  ['ECONNRESET', HUNG_UP],
  ['EPIPE', HUNG_UP],
  ['UND_ERR_SOCKET', HUNG_UP],
  ['ERR_SSL_WRONG_VERSION_NUMBER', NO_TLS],
  ['ERR_SSL_PACKET_LENGTH_TOO_LONG', NO_TLS],
]);

/**
 * Describes for the user why a server did not respond, with Node's code: `Couldn’t reach nas:80: host not found (ENOTFOUND). Check …`. If
 * several addresses were tried, uses the first one's error.
 */
export function unreached(error: unknown, server: string): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const code = first instanceof Error && 'code' in first && typeof first.code === 'string' ? first.code : '';
  const fault = certificateFault(code);
  if (fault !== undefined) return `Couldn’t reach ${server}: its certificate ${fault} (${code})`;
  const reason = REASONS.get(code);
  if (reason) return `Couldn’t reach ${server}: ${reason.what} (${code}). ${reason.hint}`;
  const message = first instanceof Error ? first.message : String(first);
  if (first instanceof Error && first.name === 'HTTPParserError')
    return `Couldn’t reach ${server}: ${NO_HTTP.what} (${message}). ${NO_HTTP.hint}`;
  return `Couldn’t reach ${server}: ${message}`;
}
