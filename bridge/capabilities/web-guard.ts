import { RpcError } from '#shared/rpc/rpc-error.ts';
import { normalizeHost, checkAddress, checkHostName } from './address-policy.ts';

/** Unprivileged ports of services other than web servers, from the list that browsers block. */
const BLOCKED_PORTS = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/** Private hosts that may be requested, each as `host` or `host:port` in URL syntax; other parts of a URL are ignored. */
export class HostAllowlist {
  /** Name of the setting that lists them. */
  readonly setting: string;
  readonly #hosts: ReadonlySet<string>;

  constructor(entries: readonly string[], setting = 'tools.webFetch.allow') {
    this.setting = setting;
    this.#hosts = new Set(
      entries.flatMap((entry) => {
        const [bare = ''] = entry
          .trim()
          .replace(/^https?:\/\//i, '')
          .split(/[/?#\\]/);
        const url = URL.parse(`http://${bare}`);
        return url ? [/:\d+$/.test(bare) ? toHostWithPort(url) : normalizeHost(url.hostname)] : [];
      }),
    );
  }

  has(url: URL): boolean {
    return this.#hosts.has(normalizeHost(url.hostname)) || this.#hosts.has(toHostWithPort(url));
  }
}

const toHostWithPort = (url: URL): string => `${normalizeHost(url.hostname)}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`;

/** Rejects names that never leave the computer (RFC 6761). */
const checkLoopbackName = (hostname: string): string | undefined =>
  /(^|\.)localhost$/.test(normalizeHost(hostname)) ? `${hostname} is not on the public internet (loopback)` : undefined;

/**
 * Validates a page's URL as far as possible without resolving it. Throws `INVALID_PARAMS` with the reason: other protocols, credentials in
 * the URL, ports of other services, and any host that is neither public nor in `allowed`. The URL parser has normalized all IPv4 spellings
 * (octal, hexadecimal, one number).
 */
export function parseWebUrl(address: string | URL, allowed: HostAllowlist): URL {
  const url = URL.parse(String(address));
  const refuse = (reason: string, details?: Record<string, unknown>): never => {
    throw new RpcError('INVALID_PARAMS', reason, details ? { details } : {});
  };
  if (!url) return refuse('Not a web address. It must start with https:// or http://.');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') refuse(`Only http and https addresses are allowed, not ${url.protocol}`);
  if (url.username !== '' || url.password !== '') refuse('Addresses with a user name or password are not allowed');
  url.hash = '';
  const blockedReason = checkHostName(url.hostname) ?? checkAddress(url.hostname, 'local');
  if (blockedReason !== undefined) refuse(blockedReason);
  if (allowed.has(url)) return url;
  const port = Number(url.port || 443);
  if ((port < 1024 && port !== 80 && port !== 443) || BLOCKED_PORTS.has(port)) refuse(`Port ${port} is not allowed for web pages`);
  const refusal = checkAddress(url.hostname, 'public') ?? checkLoopbackName(url.hostname);
  if (refusal !== undefined)
    refuse(`${refusal}. To allow it, add it to the setting ${allowed.setting}.`, { reason: 'private-place', setting: allowed.setting });
  return url;
}
