import { certificateFault } from '../certificate-fault.ts';

const NO_WAY = 'there is no way to it from this computer; look whether both are on the network';
const SILENT = 'it did not answer in time; look whether it is running, and whether a firewall is between';
const HUNG_UP = 'it hung up before its answer was whole; try again, or look into its own log';
const NO_TLS = 'what answers there does not speak https; look whether the address begins with http://';
const NO_HTTP = 'what answers there does not speak HTTP; look whether the address is right, and whether it begins with https://';

/** By Node's codes, and its HTTP client's: what happened, and what can be done. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'nothing answers at this port; look whether it is running, and whether the address is right'],
  ['ENOTFOUND', 'there is no such name; look whether the address is right, and whether this computer is online'],
  ['EAI_AGAIN', 'its name cannot be looked up now; look whether this computer is online'],
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
 * Why a server gave no answer, as a sentence for people, with the code that Node has for it: `nas:80 cannot be reached: there is no such name; … (ENOTFOUND)`.
 * Of several addresses that were tried it is what the first one said.
 */
export function unreached(error: unknown, server: string): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const code = first instanceof Error && 'code' in first && typeof first.code === 'string' ? first.code : '';
  const fault = certificateFault(code);
  const why = fault === undefined ? REASONS.get(code) : `its certificate ${fault}`;
  if (why !== undefined) return `${server} cannot be reached: ${why} (${code})`;
  const message = first instanceof Error ? first.message : String(first);
  if (first instanceof Error && first.name === 'HTTPParserError') return `${server} cannot be reached: ${NO_HTTP} (${message})`;
  return `${server} could not be asked: ${message}`;
}
