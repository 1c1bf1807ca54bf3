import type { ForwardRequest } from '#shared/link/splice.ts';
import type { Stream } from '#shared/link/stream.ts';

/**
 * The only way out of the worker. The host provides an implementation that enforces which origins may be requested, and uses the bridge's
 * egress if one is attached.
 */
export type Fetch = (url: string, init: FetchInit) => Promise<Response>;

export interface FetchInit {
  method?: string;
  headers?: Record<string, string>;
  body?: string | undefined;
  /** Binary body, instead of a text. */
  bytes?: Uint8Array<ArrayBuffer> | undefined;
  signal: AbortSignal;
  /**
   * Origin of the configured server that gave this address; undefined if the person gave it. Such a request is made through the bridge
   * only, and only to the public internet, unless that server is itself on the person's own network.
   */
  namedBy?: string;
  /**
   * Whether to follow redirects, without sending secrets. The browser follows them itself, since it does not expose them; through a bridge
   * they are returned as responses.
   */
  follow?: boolean | undefined;
  /**
   * Makes the request through the bridge that the caller's request came from, which passes a successful response on to the caller; `isHeld`
   * is true then.
   */
  forward?: ForwardOptions | undefined;
}

/** A request to forward, with the stream that the caller's request came on. */
export type ForwardOptions = Omit<ForwardRequest, 'to'> & { exchange: Stream };

/** The bridge needed for an address is not running, and the browser could not reach it without. */
export class BridgeUnavailableError extends TypeError {
  override name = 'BridgeUnavailableError';
}

/** An address that must not be requested. The message says why; retrying does not help. */
export class FetchRefusedError extends TypeError {
  override name = 'FetchRefusedError';
}

/** Why no response came from an address, since browsers do not report the reason. */
export function explainUnreachable(cause: unknown, address: string): string {
  if (cause instanceof BridgeUnavailableError) return 'Perch on your computer is not running; start it with `perch gateway run`';
  const isLoopback = /^(localhost|127\..*|\[::1\])$/.test(URL.parse(address)?.hostname ?? '');
  return isLoopback
    ? 'it is not running, or it does not allow requests from this page'
    : 'there is no network, it is not running, or it does not allow requests from this page';
}
