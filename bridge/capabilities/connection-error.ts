import { describeCertificateFault } from '../certificate-fault.ts';

interface ConnectionReason {
  problem: string;
  hint: string;
}

const NO_ROUTE: ConnectionReason = {
  problem: 'no route to the server',
  hint: 'Check that this computer and the server are on the network.',
};
const NO_RESPONSE: ConnectionReason = {
  problem: 'no response in time',
  hint: 'Check that the server is running and not blocked by a firewall.',
};
const CONNECTION_CLOSED: ConnectionReason = {
  problem: 'the server closed the connection early',
  hint: 'Try again, or check the server’s log.',
};
const NO_TLS: ConnectionReason = { problem: 'the server doesn’t use HTTPS', hint: 'Try an address that starts with http://.' };
const NO_HTTP: ConnectionReason = {
  problem: 'the server doesn’t use HTTP',
  hint: 'Check the address and whether it must start with https://.',
};

/** Explanation and advice by error code of Node or its HTTP client. */
const REASONS: ReadonlyMap<string, ConnectionReason> = new Map([
  ['ECONNREFUSED', { problem: 'connection refused', hint: 'Check the address and that the server is running.' }],
  ['ENOTFOUND', { problem: 'host not found', hint: 'Check the address and this computer’s internet connection.' }],
  ['EAI_AGAIN', { problem: 'the host name couldn’t be looked up', hint: 'Check this computer’s internet connection.' }],
  ['EHOSTUNREACH', NO_ROUTE],
  ['ENETUNREACH', NO_ROUTE],
  ['EHOSTDOWN', NO_ROUTE],
  ['ETIMEDOUT', NO_RESPONSE],
  ['UND_ERR_CONNECT_TIMEOUT', NO_RESPONSE],
  ['UND_ERR_HEADERS_TIMEOUT', NO_RESPONSE],
  ['ECONNRESET', CONNECTION_CLOSED],
  ['EPIPE', CONNECTION_CLOSED],
  ['UND_ERR_SOCKET', CONNECTION_CLOSED],
  ['ERR_SSL_WRONG_VERSION_NUMBER', NO_TLS],
  ['ERR_SSL_PACKET_LENGTH_TOO_LONG', NO_TLS],
]);

/**
 * Describes for the user why a server did not respond, with Node's code: `Couldn’t reach nas:80: host not found (ENOTFOUND). Check …`. If
 * several addresses were tried, uses the first one's error.
 */
export function describeConnectionError(error: unknown, server: string): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const code = first instanceof Error && 'code' in first && typeof first.code === 'string' ? first.code : '';
  const fault = describeCertificateFault(code);
  if (fault !== undefined) return `Couldn’t reach ${server}: its certificate ${fault} (${code})`;
  const reason = REASONS.get(code);
  if (reason) return `Couldn’t reach ${server}: ${reason.problem} (${code}). ${reason.hint}`;
  const message = first instanceof Error ? first.message : String(first);
  if (first instanceof Error && first.name === 'HTTPParserError')
    return `Couldn’t reach ${server}: ${NO_HTTP.problem} (${message}). ${NO_HTTP.hint}`;
  return `Couldn’t reach ${server}: ${message}`;
}
