import type { Forward } from '#shared/link/splice.ts';
import type { Stream } from '#shared/link/stream.ts';

/** The one way out of the worker. The host gives an implementation that enforces which origins may be asked, and goes through the bridge's egress where there is one. */
export type Fetch = (url: string, init: FetchInit) => Promise<Response>;

export interface FetchInit {
  method?: string;
  headers?: Record<string, string>;
  body?: string | undefined;
  /** In the place of a text. */
  bytes?: Uint8Array<ArrayBuffer> | undefined;
  signal: AbortSignal;
  /**
   * Origin of the configured server that has named this address, where it is not the person who has: then it is asked by the bridge alone, and only on the public
   * internet, unless that server is itself on the person's own network.
   */
  namedBy?: string;
  /** Where redirects lead is asked too, with nothing secret: by the browser, where it asks itself, for it does not show them; through a bridge they are answers. */
  follow?: boolean | undefined;
  /** Asks by the bridge that a request came from, which gives a good answer to its caller: `isHeld` tells it then. */
  forward?: Forwarding | undefined;
}

/** What is asked, with the stream on which the caller's request came. */
export type Forwarding = Omit<Forward, 'to'> & { exchange: Stream };

/** The bridge by which an address would be asked is away, and the browser alone did not get there. */
export class BridgeAway extends TypeError {
  override name = 'BridgeAway';
}

/** An address that must not be asked. The message says why; trying again does not help. */
export class FetchRefused extends TypeError {
  override name = 'FetchRefused';
}

/** Why no answer came from an address, of which a browser tells nothing. */
export function unreachedBecause(cause: unknown, address: string): string {
  if (cause instanceof BridgeAway) return 'Perch on your computer is not running; start it with `perch gateway run`';
  const here = /^(localhost|127\..*|\[::1\])$/.test(URL.parse(address)?.hostname ?? '');
  return here
    ? 'it is not running, or it does not allow requests from this page'
    : 'there is no network, it is not running, or it does not allow requests from this page';
}
