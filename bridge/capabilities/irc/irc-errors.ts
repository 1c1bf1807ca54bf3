import type { IrcFault } from '#shared/ports/irc-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { describeCertificateFault } from '../../certificate-fault.ts';
import { describeUnreachable } from '../unreachable-host.ts';

const MAX_RESPONSE_CHARS = 200;
const BANNED_RETRY_MS = 15 * 60_000;
const BUSY_RETRY_MS = 2 * 60_000;
/** Networks lock accounts with many failed attempts. */
export const SIGN_IN_RETRY_MS = 5 * 60_000;

/** Members with which most errors agree. */
const UNSENT = { isUnsent: true, refused: false } as const;

export const createIrcError = (message: string, fault: Partial<IrcFault> & Pick<IrcFault, 'reason'>): RpcError =>
  new RpcError('INTERNAL_ERROR', message, { details: { ...UNSENT, ...fault }, retryable: fault.refused !== true });

/** The same error, which asks to wait unless it already does. */
export const addRetryDelay = ({ code, message, extra }: RpcError, retryAfterMs: number): RpcError =>
  new RpcError(code, message, { ...extra, details: { retryAfterMs, ...extra.details } });

/** Text of a server, for a sentence. */
export const toQuote = (text: string): string => {
  const clean = text
    .replaceAll(/\p{Cc}|\s+/gu, ' ')
    .trim()
    .slice(0, MAX_RESPONSE_CHARS);
  return clean === '' ? '' : `: ${clean}`;
};

/** The error for a connection that ended. `said`: the server's last `ERROR`. */
export function createEndError(name: string, said: string, cause: unknown): RpcError {
  const code = cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
  const certificate = describeCertificateFault(code);
  if (certificate !== undefined) return createIrcError(`The certificate of ${name} ${certificate} (${code}).`, { reason: 'tls' });
  if (/^ERR_SSL_/.test(code))
    return createIrcError(`${name} doesn’t use TLS. Check the port: IRC with TLS is usually at 6697.`, { reason: 'tls' });
  const unreachable = describeUnreachable(code);
  if (unreachable !== undefined)
    return createIrcError(`Couldn’t reach ${name}: ${unreachable}. Check the server’s name and port.`, { reason: 'unreachable' });
  if (/[kgzd]-?lined?\b|akill|autokill|banned|not welcome/i.test(said))
    return createIrcError(`${name} has banned Perch${toQuote(said)}.`, { reason: 'banned', retryAfterMs: BANNED_RETRY_MS });
  if (/flood|sendq|recvq/i.test(said))
    return createIrcError(`${name} closed the connection because of too many messages${toQuote(said)}.`, {
      ...{ reason: 'flood', retryAfterMs: BUSY_RETRY_MS },
    });
  if (/throttl|too fast|too many/i.test(said))
    return createIrcError(`${name} limits how often Perch may connect${toQuote(said)}.`, { reason: 'flood', retryAfterMs: BUSY_RETRY_MS });
  return createIrcError(`The connection to ${name} was lost${toQuote(said)}.`, { reason: 'lost' });
}
