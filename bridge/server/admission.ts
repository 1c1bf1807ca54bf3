import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

/** Why a request is not let in. The text is safe to show. */
export interface Refusal {
  status: 400 | 403;
  message: string;
}

export interface AdmissionOptions {
  /** Names beside the loopback ones under which the gateway is reached, without a port: exactly these. */
  hosts?: readonly string[];
  /** Origins beside the gateway's own that may call it: exactly these. */
  origins?: readonly string[];
  /** Let in requests to whatever address of this machine they arrived at: an address, unlike a name, cannot be rebound. */
  exposed?: boolean;
  /** Names of the certificate, without a port, under which alone what comes over TLS is let in beside such addresses. */
  secureHosts?: readonly string[];
}

/** What admission looks at. */
export interface Arrival {
  url: string;
  headers: IncomingHttpHeaders;
  localAddress: string | undefined;
  remoteAddress: string | undefined;
  /** Over TLS. */
  encrypted: boolean;
}

export const arrivalOf = (request: IncomingMessage): Arrival => ({
  url: request.url ?? '',
  headers: request.headers,
  localAddress: request.socket.localAddress,
  remoteAddress: request.socket.remoteAddress,
  encrypted: 'encrypted' in request.socket && request.socket.encrypted === true,
});

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * The checks before anything else, routing included, for HTTP and upgrades alike: `Host` must name this gateway (against DNS rebinding),
 * `Origin`, where there is one, must be on the exact list (decisions, "HTTP"). Nothing is matched by prefix, and `null` is no origin of ours.
 */
export class Admission {
  readonly origin: string;
  readonly #hosts: ReadonlySet<string>;
  readonly #loopbackHosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  readonly #secureHosts: ReadonlySet<string>;
  readonly #suffixes: { plain: readonly string[]; secure: readonly string[] };
  readonly #localhostOrigin: string;
  readonly #exposed: boolean;

  /** `origin` is the canonical one, as a browser writes it. */
  constructor(origin: string, port: number, { hosts = [], origins = [], exposed = false, secureHosts = [] }: AdmissionOptions = {}) {
    this.origin = origin;
    // Clients leave out the port that is the protocol's own.
    const suffixes = (usual: number): string[] => (port === usual ? [`:${port}`, ''] : [`:${port}`]);
    this.#suffixes = { plain: suffixes(80), secure: suffixes(443) };
    const withPort = (name: string): string[] => this.#suffixes.plain.map((suffix) => `${name.toLowerCase()}${suffix}`);
    this.#secureHosts = new Set(secureHosts.flatMap((name) => this.#suffixes.secure.map((suffix) => `${name.toLowerCase()}${suffix}`)));
    const canonicalHost = new URL(origin).hostname;
    this.#loopbackHosts = new Set([...LOOPBACK_NAMES, canonicalHost].flatMap(withPort));
    this.#hosts = new Set([...this.#loopbackHosts, ...hosts.flatMap(withPort)]);
    this.#origins = new Set([origin, ...origins]);
    this.#localhostOrigin = new URL(`http://localhost:${port}`).origin;
    this.#exposed = exposed;
  }

  /** Undefined where the request may go on. */
  refuse(arrival: Arrival, isNavigation: boolean): Refusal | undefined {
    const { url, headers } = arrival;
    if (!url.startsWith('/')) return { status: 400, message: 'The request target must be a path' };
    const host = headers.host?.toLowerCase() ?? '';
    const secure = this.#isSecure(arrival);
    if (!this.#hosts.has(host) && !secure && !(this.#exposed && this.#isOwnAddress(arrival))) {
      return { status: 403, message: 'This host name is not allowed (Host)' };
    }
    const { origin } = headers;
    if (origin === undefined || this.#origins.has(origin)) return undefined;
    if (secure && origin === `https://${host}`) return undefined;
    if (isNavigation && origin === this.#localhostOrigin) return undefined;
    return { status: 403, message: 'This origin is not allowed (Origin)' };
  }

  /** Whether cross-origin answers may be read by this origin; the canonical one included. */
  allowsOrigin(origin: string | undefined): origin is string {
    return origin !== undefined && this.#origins.has(origin);
  }

  /**
   * The origin of the app for who asks: on this machine, under a loopback name, the canonical one; over TLS the one that it asked, which is
   * exact. Only these get the app, a link or the lease. Undefined: the API alone.
   */
  appOrigin(arrival: Arrival): string | undefined {
    if (this.isLocal(arrival)) return this.origin;
    return this.#isSecure(arrival) ? `https://${arrival.headers.host?.toLowerCase()}` : undefined;
  }

  /** From this machine, under a loopback name. */
  isLocal({ headers, remoteAddress }: Arrival): boolean {
    return this.#loopbackHosts.has(headers.host?.toLowerCase() ?? '') && remoteAddress !== undefined && isLoopback(remoteAddress);
  }

  /** Over TLS, under a name of the certificate or the address at which it arrived. */
  #isSecure(arrival: Arrival): boolean {
    if (!arrival.encrypted) return false;
    return this.#secureHosts.has(arrival.headers.host?.toLowerCase() ?? '') || (this.#exposed && this.#isOwnAddress(arrival));
  }

  #isOwnAddress({ headers, localAddress, encrypted }: Arrival): boolean {
    if (localAddress === undefined) return false;
    const host = headers.host?.toLowerCase() ?? '';
    const name = plainAddress(localAddress);
    const suffixes = encrypted ? this.#suffixes.secure : this.#suffixes.plain;
    return suffixes.some((suffix) => host === `${name.includes(':') ? `[${name}]` : name}${suffix}`);
  }
}

/** An address without the IPv6 form of IPv4 (`::ffff:`) and without a zone. */
function plainAddress(address: string): string {
  return ipaddr.process(address.replace(/%.*$/, '')).toString();
}

/** Whether an IP address is a loopback one; false for names. */
export function isLoopback(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}
