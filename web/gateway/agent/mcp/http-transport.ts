import {
  type AuthProvider,
  type FetchLike,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { ExchangeReset } from '#shared/link/stream-http.ts';
import { type Fetch, FetchRefusedError, explainUnreachable } from '../../ports/fetch.ts';
import type { McpEndpoint } from './mcp-endpoints.ts';

/**
 * Transport to an MCP server over HTTP: through the bridge if one is attached, else with the browser's own `fetch`, as far as CORS allows.
 */
export function createHttpTransport(
  { transport, url, headers }: McpEndpoint & { transport: 'http' | 'sse' },
  fetch: Fetch,
  authorization?: AuthProvider,
): Transport {
  // The SDK follows no redirect, and no other address from a server, to another origin: headers are for the server only.
  const options = { fetch: toFetchLike(fetch), requestInit: { headers }, ...(authorization ? { authProvider: authorization } : {}) };
  return transport === 'sse' ? new SSEClientTransport(new URL(url), options) : new StreamableHTTPClientTransport(new URL(url), options);
}

function toFetchLike(fetch: Fetch): FetchLike {
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
      // The bridge and the gateway give a reason; a browser gives none.
      if (cause instanceof ExchangeReset || cause instanceof FetchRefusedError) throw cause;
      throw new TypeError(`couldn’t reach ${new URL(to).host}: ${explainUnreachable(cause, String(to))}.`, { cause });
    }
  };
}
