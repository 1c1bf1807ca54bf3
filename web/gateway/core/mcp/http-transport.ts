import {
  type AuthProvider,
  type FetchLike,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { ExchangeReset } from '#shared/link/http.ts';
import { type Fetch, FetchRefused, unreachedBecause } from '../fetch.ts';
import type { Entry } from './entries.ts';

/** The way to a tool server over HTTP: by the bridge where there is one, else by the browser's own `fetch`, as far as CORS lets it. */
export function httpTransport(
  { transport, url, headers }: Entry & { transport: 'http' | 'sse' },
  fetch: Fetch,
  authorization?: AuthProvider,
): Transport {
  // The kit follows no redirect, and no other address that a server names, to another origin: headers are for the server alone.
  const options = { fetch: fetchLike(fetch), requestInit: { headers }, ...(authorization ? { authProvider: authorization } : {}) };
  return transport === 'sse' ? new SSEClientTransport(new URL(url), options) : new StreamableHTTPClientTransport(new URL(url), options);
}

function fetchLike(fetch: Fetch): FetchLike {
  return async (to, init = {}) => {
    const { method = 'GET', body } = init;
    if (body !== undefined && body !== null && typeof body !== 'string') throw new TypeError('only text can be sent to MCP servers');
    const { signal = null } = init;
    try {
      return await fetch(new URL(to).href, {
        method,
        headers: Object.fromEntries(new Headers(init.headers)),
        ...(typeof body === 'string' ? { body } : {}),
        signal: signal ?? new AbortController().signal,
      });
    } catch (cause) {
      signal?.throwIfAborted();
      // The bridge says why, and the gateway why it does not ask; a browser says nothing.
      if (cause instanceof ExchangeReset || cause instanceof FetchRefused) throw cause;
      throw new TypeError(`couldn’t reach ${new URL(to).host}: ${unreachedBecause(cause, String(to))}.`, { cause });
    }
  };
}
