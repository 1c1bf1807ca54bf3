import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

/** Why a request is rejected. The message is safe to show. */
interface Refusal {
  status: 400 | 403;
  message: string;
}

interface AdmissionOptions {
  /** Additional host names of the gateway, without a port, matched exactly. */
  hosts?: readonly string[];
  /** Additional origins that may call the gateway, matched exactly. */
  origins?: readonly string[];
  /** Accepts requests addressed to any IP address of this machine that they arrived at: unlike a name, an address can't be rebound. */
  exposed?: boolean;
  /** Names of the certificate, without a port. TLS requests must use one of them, or such an address. */
  secureHosts?: readonly string[];
}

/** Properties of a request that admission checks. */
interface AdmissionRequest {
  url: string;
  headers: IncomingHttpHeaders;
  localAddress: string | undefined;
  remoteAddress: string | undefined;
  /** Over TLS. */
  encrypted: boolean;
}

export const toAdmissionRequest = (request: IncomingMessage): AdmissionRequest => ({
  url: request.url ?? '',
  headers: request.headers,
  localAddress: request.socket.localAddress,
  remoteAddress: request.socket.remoteAddress,
  encrypted: 'encrypted' in request.socket && request.socket.encrypted === true,
});

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Checks that run before anything else, including routing, for HTTP requests and upgrades. `Host` must name this gateway (against DNS
 * rebinding), and `Origin`, if present, must be on the exact list. Nothing is matched by prefix, and the origin `null` is rejected.
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

  /** `origin`: canonical origin, as a browser sends it. */
  constructor(origin: string, port: number, { hosts = [], origins = [], exposed = false, secureHosts = [] }: AdmissionOptions = {}) {
    this.origin = origin;
    // Clients omit the protocol's default port.
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

  /** Returns undefined if the request is admitted. */
  refuse(arrival: AdmissionRequest, isNavigation: boolean): Refusal | undefined {
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

  /** Whether this origin may read cross-origin responses. True for the canonical origin. */
  allowsOrigin(origin: string | undefined): origin is string {
    return origin !== undefined && this.#origins.has(origin);
  }

  /**
   * Returns the app's origin for a request: the canonical one on this machine under a loopback name, or over TLS the requested one, which
   * is exact. Only these may use the app, linking and the lease. Undefined: API only.
   */
  appOrigin(arrival: AdmissionRequest): string | undefined {
    if (this.isLocal(arrival)) return this.origin;
    return this.#isSecure(arrival) ? `https://${arrival.headers.host?.toLowerCase()}` : undefined;
  }

  /** Whether a request comes from this machine under a loopback name. */
  isLocal({ headers, remoteAddress }: AdmissionRequest): boolean {
    return this.#loopbackHosts.has(headers.host?.toLowerCase() ?? '') && remoteAddress !== undefined && isLoopback(remoteAddress);
  }

  /** Whether a request came over TLS, for a name of the certificate or the address at which it arrived. */
  #isSecure(arrival: AdmissionRequest): boolean {
    if (!arrival.encrypted) return false;
    return this.#secureHosts.has(arrival.headers.host?.toLowerCase() ?? '') || (this.#exposed && this.#isOwnAddress(arrival));
  }

  #isOwnAddress({ headers, localAddress, encrypted }: AdmissionRequest): boolean {
    if (localAddress === undefined) return false;
    const host = headers.host?.toLowerCase() ?? '';
    const name = normalizeAddress(localAddress);
    const suffixes = encrypted ? this.#suffixes.secure : this.#suffixes.plain;
    return suffixes.some((suffix) => host === `${name.includes(':') ? `[${name}]` : name}${suffix}`);
  }
}

/** Normalizes an IP address: removes the zone and the IPv4-mapped prefix (`::ffff:`). */
function normalizeAddress(address: string): string {
  return ipaddr.process(address.replace(/%.*$/, '')).toString();
}

/** Whether a string is a loopback IP address; false for names. */
export function isLoopback(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}
