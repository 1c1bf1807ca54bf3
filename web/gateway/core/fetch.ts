/** The one way out of the worker. The host gives an implementation that enforces which origins may be asked, and goes through the bridge's egress where there is one. */
export type Fetch = (
  url: string,
  init: { method?: string; headers?: Record<string, string>; body?: string; signal: AbortSignal },
) => Promise<Response>;

/** An address that must not be asked. The message says why; trying again does not help. */
export class FetchRefused extends TypeError {
  override name = 'FetchRefused';
}
