import { RpcError } from '#shared/rpc/errors.ts';
import { plainHost, refuseAddress, refuseName } from './addresses.ts';

/** Ports above the reserved ones behind which something else than web servers listens, by the list that browsers have. */
const BAD_PORTS = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/** Which private places are free: each `host` or `host:port`, as in a URL; what else is written of one before or behind says nothing. */
export class Allowed {
  /** Where the person names them. */
  readonly setting: string;
  readonly #places: ReadonlySet<string>;

  constructor(places: readonly string[], setting = 'tools.webFetch.allow') {
    this.setting = setting;
    this.#places = new Set(
      places.flatMap((place) => {
        const [bare = ''] = place
          .trim()
          .replace(/^https?:\/\//i, '')
          .split(/[/?#\\]/);
        const url = URL.parse(`http://${bare}`);
        return url ? [/:\d+$/.test(bare) ? placeOf(url) : plainHost(url.hostname)] : [];
      }),
    );
  }

  has(url: URL): boolean {
    return this.#places.has(plainHost(url.hostname)) || this.#places.has(placeOf(url));
  }
}

const placeOf = (url: URL): string => `${plainHost(url.hostname)}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`;

/** These names never leave the computer (RFC 6761). */
const refuseLoopbackName = (hostname: string): string | undefined =>
  /(^|\.)localhost$/.test(plainHost(hostname)) ? `${hostname} is not on the public internet (loopback)` : undefined;

/**
 * A page's address that may be asked as far as it can be told without resolving it. Throws `INVALID_PARAMS` with the reason: other protocols, a
 * name or password in it, ports of other services, and every place that is not public and not in `allowed`. A URL's parser has by then written
 * every spelling of an IPv4 address (octal, hexadecimal, one number) in the usual way.
 */
export function judgedUrl(address: string | URL, allowed: Allowed): URL {
  const url = URL.parse(String(address));
  const refuse = (why: string, details?: Record<string, unknown>): never => {
    throw new RpcError('INVALID_PARAMS', why, details ? { details } : {});
  };
  if (!url) return refuse('Not a web address. It must start with https:// or http://.');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') refuse(`Only http and https addresses are allowed, not ${url.protocol}`);
  if (url.username !== '' || url.password !== '') refuse('Addresses with a user name or password are not allowed');
  url.hash = '';
  const never = refuseName(url.hostname) ?? refuseAddress(url.hostname, 'local');
  if (never !== undefined) refuse(never);
  if (allowed.has(url)) return url;
  const port = Number(url.port || 443);
  if ((port < 1024 && port !== 80 && port !== 443) || BAD_PORTS.has(port)) refuse(`Port ${port} is not allowed for web pages`);
  const refusal = refuseAddress(url.hostname, 'public') ?? refuseLoopbackName(url.hostname);
  if (refusal !== undefined)
    refuse(`${refusal}. To allow it, add it to the setting ${allowed.setting}.`, { reason: 'private-place', setting: allowed.setting });
  return url;
}
