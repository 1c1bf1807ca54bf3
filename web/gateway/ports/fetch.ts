import { ExchangeReset, fetchOver } from '#shared/link/http.ts';
import type { Mux } from '#shared/link/mux.ts';
import { HOLD_HEADER } from '#shared/link/splice.ts';
import { CLOSE } from '#shared/rpc/frames.ts';
import { type Fetch, FetchRefused } from '../core/fetch.ts';

export interface FetchPortOptions {
  /** Origins that may be asked: those of the configured providers, and the model servers of this machine. */
  allowed(): ReadonlySet<string>;
  /** The bridge's way out, where there is one: it has no limit of six connections and no CORS. */
  egress(): Mux | null;
}

/** The one way out of the worker: asks no origin but those allowed (design.md, "Strict CSP"). Rejects with a `TypeError` otherwise. */
export function createFetch({ allowed, egress }: FetchPortOptions): Fetch {
  return async (url, { method = 'GET', headers = {}, body, signal, hold }) => {
    const { origin } = new URL(url);
    if (!allowed().has(origin)) throw new FetchRefused(`${origin} is not the address of a configured provider`);
    const mux = egress();
    if (!mux)
      return fetch(url, {
        method,
        headers,
        signal,
        redirect: 'manual',
        credentials: 'omit',
        referrerPolicy: 'no-referrer',
        ...(body === undefined ? {} : { body }),
      });
    try {
      return await fetchOver(
        mux,
        {
          kind: 'egress',
          headers: { ...headers, ':method': method, ':url': url, ...(hold ? { [HOLD_HEADER]: JSON.stringify(hold) } : {}) },
        },
        { signal, ...(body === undefined ? {} : { body }) },
      );
    } catch (error) {
      if (error instanceof ExchangeReset && error.code === CLOSE.policy) throw new FetchRefused(error.message, { cause: error });
      throw error;
    }
  };
}
