import { ExchangeReset, fetchOverStream, type OutgoingRequest } from '#shared/link/stream-http.ts';
import type { Mux } from '#shared/link/mux.ts';
import { type ForwardRequest, FORWARD_HEADER, FORWARD_KIND } from '#shared/link/splice.ts';
import { CLOSE_CODES } from '#shared/rpc/frames.ts';
import { BridgeUnavailableError, type Fetch, FetchRefusedError, type ForwardOptions } from './fetch.ts';

interface FetchPortOptions {
  /** Allowed origins: those of the configured providers, MCP servers and channels, and the model servers of this machine. */
  getAllowedOrigins(): ReadonlySet<string>;
  /** The bridge's egress, if available: it has no limit of six connections and no CORS. */
  getEgress(): Mux | null;
  /** Whether this browser is linked to a bridge that does not respond. */
  isBridgeAway?(): boolean;
}

/** The worker's only network access: requests allowed origins. Rejects with a `TypeError` otherwise. */
export function createFetch({ getAllowedOrigins, getEgress, isBridgeAway = () => false }: FetchPortOptions): Fetch {
  return async (url, { method = 'GET', headers = {}, bytes, body = bytes, signal, forward, namedBy, follow }) => {
    const { origin } = new URL(url);
    if (!getAllowedOrigins().has(namedBy ?? origin))
      throw new FetchRefusedError(
        `${namedBy ?? origin} is not the address of a configured provider, MCP server, channel or search service.`,
      );
    const request = { signal, ...(body === undefined ? {} : { body }) };
    const isNamedByOther = namedBy !== undefined && namedBy !== origin;
    const allHeaders = { ...headers, ...(isNamedByOther ? { ':named-by': namedBy } : {}), ':method': method, ':url': url };
    try {
      if (forward) return await forwardExchange(forward, allHeaders, request);
      const mux = getEgress();
      if (mux) return await fetchOverStream(mux, { kind: 'egress', headers: allHeaders }, request);
      if (isNamedByOther) throw new FetchRefusedError(`requests to ${origin} need the bridge. Start Perch with \`perch gateway run\`.`);
    } catch (error) {
      if (error instanceof ExchangeReset && error.code === CLOSE_CODES.policy) throw new FetchRefusedError(error.message, { cause: error });
      throw error;
    }
    const isAway = isBridgeAway();
    try {
      return await fetch(url, {
        method,
        headers,
        ...request,
        redirect: follow ? 'follow' : 'manual',
        credentials: 'omit',
        referrerPolicy: 'no-referrer',
      });
    } catch (cause) {
      signal.throwIfAborted();
      if (isAway) throw new BridgeUnavailableError('the bridge is away', { cause });
      throw cause;
    }
  };
}

function forwardExchange(
  { exchange, ...forwarding }: ForwardOptions,
  headers: Record<string, string>,
  request: OutgoingRequest,
): Promise<Response> {
  const header = JSON.stringify({ ...forwarding, to: exchange.id } satisfies ForwardRequest);
  const opening = { kind: FORWARD_KIND, headers: { ...headers, [FORWARD_HEADER]: header } };
  return fetchOverStream({ open: (streamOpening) => exchange.openSibling(streamOpening) }, opening, request);
}
