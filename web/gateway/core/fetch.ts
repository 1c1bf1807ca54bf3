import type { Hold } from '#shared/link/splice.ts';

/** The one way out of the worker. The host gives an implementation that enforces which origins may be asked, and goes through the bridge's egress where there is one. */
export type Fetch = (url: string, init: FetchInit) => Promise<Response>;

export interface FetchInit {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  signal: AbortSignal;
  /** An answer that streams may be held by the bridge: it is a `HeldResponse` then. Means nothing where there is no bridge. */
  hold?: Hold | undefined;
}

/** An address that must not be asked. The message says why; trying again does not help. */
export class FetchRefused extends TypeError {
  override name = 'FetchRefused';
}
