import type { Forward } from '#shared/link/splice.ts';
import type { Stream } from '#shared/link/stream.ts';

/** The one way out of the worker. The host gives an implementation that enforces which origins may be asked, and goes through the bridge's egress where there is one. */
export type Fetch = (url: string, init: FetchInit) => Promise<Response>;

export interface FetchInit {
  method?: string;
  headers?: Record<string, string>;
  body?: string | undefined;
  signal: AbortSignal;
  /** Asks by the bridge that a request came from, which gives a good answer to its caller: it is a `HeldResponse` then. */
  forward?: Forwarding | undefined;
}

/** What is asked, with the stream on which the caller's request came. */
export type Forwarding = Omit<Forward, 'to'> & { exchange: Stream };

/** An address that must not be asked. The message says why; trying again does not help. */
export class FetchRefused extends TypeError {
  override name = 'FetchRefused';
}
