import { ExchangeReset, fetchOver, type OutgoingRequest } from '#shared/link/http.ts';
import type { Mux } from '#shared/link/mux.ts';
import { type Forward, FORWARD_HEADER, FORWARD_PORT } from '#shared/link/splice.ts';
import { CLOSE } from '#shared/rpc/frames.ts';
import { BridgeAway, type Fetch, FetchRefused, type Forwarding } from '../core/fetch.ts';

export interface FetchPortOptions {
  /** Allowed origins: those of the configured providers, MCP servers and channels, and the model servers of this machine. */
  allowed(): ReadonlySet<string>;
  /** The bridge's egress, if available: it has no limit of six connections and no CORS. */
  egress(): Mux | null;
  /** Whether this browser is linked to a bridge that does not respond. */
  isBridgeAway?(): boolean;
}

/** The worker's only network access: requests allowed origins. Rejects with a `TypeError` otherwise. */
export function createFetch({ allowed, egress, isBridgeAway = () => false }: FetchPortOptions): Fetch {
  return async (url, { method = 'GET', headers = {}, bytes, body = bytes, signal, forward, namedBy, follow }) => {
    const { origin } = new URL(url);
    if (!allowed().has(namedBy ?? origin))
      throw new FetchRefused(`${namedBy ?? origin} is not the address of a configured provider, MCP server or channel.`);
    const request = { signal, ...(body === undefined ? {} : { body }) };
    const named = namedBy !== undefined && namedBy !== origin;
    const out = { ...headers, ...(named ? { ':named-by': namedBy } : {}), ':method': method, ':url': url };
    try {
      if (forward) return await passOver(forward, out, request);
      const mux = egress();
      if (mux) return await fetchOver(mux, { kind: 'egress', headers: out }, request);
      if (named) throw new FetchRefused(`requests to ${origin} need the bridge. Start Perch with \`perch gateway run\`.`);
    } catch (error) {
      if (error instanceof ExchangeReset && error.code === CLOSE.policy) throw new FetchRefused(error.message, { cause: error });
      throw error;
    }
    const alone = isBridgeAway();
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
      if (alone) throw new BridgeAway('the bridge is away', { cause });
      throw cause;
    }
  };
}

function passOver({ exchange, ...wish }: Forwarding, headers: Record<string, string>, request: OutgoingRequest): Promise<Response> {
  const given = JSON.stringify({ ...wish, to: exchange.id } satisfies Forward);
  const opening = { kind: FORWARD_PORT, headers: { ...headers, [FORWARD_HEADER]: given } };
  return fetchOver({ open: (wanted) => exchange.beside(wanted) }, opening, request);
}
