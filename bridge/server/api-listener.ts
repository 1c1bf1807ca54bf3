import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { getMaxBodyBytes, formatBodyTooLarge } from '#shared/http/body-limits.ts';
import { ANTHROPIC_BETA_HEADER, toVariant, ANTHROPIC_VERSION_HEADER } from '#shared/http/messages-api.ts';
import { REQUEST_ID_HEADER } from '#shared/http/request-id.ts';
import type { Mux } from '#shared/link/mux.ts';
import { MAX_STORED_BODY_BYTES } from '#shared/link/splice.ts';
import { allowsScope, splitScopes } from '#shared/rpc/scopes.ts';
import { MIN_HEAD_HEADER } from '#shared/ports/journal-streams.ts';
import { VIA_HEADER } from '../passthrough/upstream-request.ts';
import type { Journal } from '../journal/journal.ts';
import type { Admission } from './admission.ts';
import { type Authenticator, getRequestToken } from './auth.ts';
import { answerFromRoute } from '../passthrough/fast-path.ts';
import { discardRequest, serveExchange, type ExchangeRegistry } from '../passthrough/http-exchange.ts';
import type { InFlightCounter } from './in-flight-counter.ts';
import { toDenialResponse, sendError } from './http-errors.ts';
import type { HostRegistry } from './hosts.ts';
import type { ReceiptQueue } from '../passthrough/receipts.ts';
import type { RouteCache } from '../passthrough/route-cache.ts';
import type { Timing } from './timing.ts';

export interface ApiListenerDeps {
  admission: Admission;
  auth: Authenticator;
  hosts: HostRegistry;
  journal: Pick<Journal, 'head'>;
  timing: Timing;
  /** Number of exchanges in progress and its maximum; further ones are rejected immediately. */
  gauge: InFlightCounter;
  maxExchanges: number;
  /** This gateway's id in its outgoing requests (capabilities/egress.ts). */
  via: string;
  /** Exchanges that can be answered past the host, and usage reports of such responses. */
  exchanges: ExchangeRegistry;
  receipts: ReceiptQueue;
  /** Cached decisions of hosts. */
  routeCache: RouteCache;
  log(line: string): void;
}

export const OWN_REQUEST = 'The request came from this gateway. It can’t be its own provider.';
export const TOO_MANY = 'Too many requests in progress';
export const NO_HOST = 'No gateway is running. Open the app, or start the gateway with a managed browser.';

/** Headers of the caller that are passed on to the host. */
const FORWARDED_HEADERS = [
  ...['content-type', 'accept', 'user-agent', 'x-perch-session', REQUEST_ID_HEADER, ANTHROPIC_VERSION_HEADER, ANTHROPIC_BETA_HEADER],
  ...['mcp-protocol-version', 'mcp-session-id', 'mcp-method', 'mcp-name', 'last-event-id'],
];

/** Whether a URL belongs to `/v1`, `/api` (Ollama), `/mcp` or `/openapi.json`, whose responses all include the request's id. */
export const isApiUrl = (url = ''): boolean => /^\/(?:v1|api|mcp|openapi\.json)(?:[/?]|$)/.test(url);
const CORS = { vary: 'Origin', 'access-control-expose-headers': 'Retry-After, X-Request-Id, Request-Id, X-Perch-Ignored, Mcp-Session-Id' };
const CORS_METHODS = 'GET, POST, PUT, PATCH, DELETE';

/**
 * Handles `/v1` and `/mcp`: admits the caller and forwards the exchange to the host. Does not use Fastify, most of whose work per request
 * is not needed here.
 */
export function createApiListener(deps: ApiListenerDeps): RequestListener {
  const { admission, auth, hosts, journal, timing, gauge, maxExchanges, via, exchanges, receipts, routeCache, log } = deps;
  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const refuse = (status: number, message: string, headers?: Record<string, string>): void => {
      sendError(response, status, message, headers);
      discardRequest(incoming);
    };
    const { origin } = incoming.headers;
    const verdict = auth.checkBearer(getRequestToken(incoming), origin);
    if (!verdict.ok) {
      const { status, headers } = toDenialResponse(verdict);
      return refuse(status, verdict.message, headers);
    }
    // Each pass would start another run until no exchanges are left.
    if (incoming.headers[VIA_HEADER] === via) return refuse(508, OWN_REQUEST);
    if ((incoming.headers['content-encoding'] ?? 'identity') !== 'identity')
      return refuse(400, 'Compressed request bodies are not supported (Content-Encoding)');
    const maxBytes = getMaxBodyBytes(incoming.headers['content-type']);
    if (Number(incoming.headers['content-length'] ?? 0) > maxBytes) return refuse(413, formatBodyTooLarge(maxBytes));
    if (gauge.count >= maxExchanges) return refuse(503, TOO_MANY, { 'retry-after': '1' });
    response.once('close', gauge.begin());
    // Destroys the connection at any point, so that the response does not look complete.
    if (verdict.hold)
      response.once(
        'close',
        verdict.hold(() => response.destroy()),
      );
    if (response.destroyed) return;

    const mux = hosts.current ?? (await hostFor(response));
    if (response.destroyed) return;
    if (!mux) return refuse(503, NO_HOST, { 'retry-after': '2' });

    const variant = routeCache.any(mux) && allowsScope(verdict.scopes, 'v1') ? getRequestVariant(incoming) : undefined;
    const wholeBody = variant !== undefined;
    const body = wholeBody ? await readBody(incoming) : undefined;
    if (response.destroyed || (wholeBody && !incoming.complete)) return;
    const decided = body && routeCache.findRoute(mux, verdict.principal, body, variant);
    const caller = { requestId: String(incoming.headers[REQUEST_ID_HEADER]), response };
    const pending = decided && (await answerFromRoute(decided, caller, { mux, receipts, routes: routeCache }));
    if (pending === 'answered') return;
    if (response.destroyed) return pending?.cancel();

    const headers: Record<string, string> = {
      ':method': incoming.method ?? 'GET',
      ':path': incoming.url ?? '/',
      [MIN_HEAD_HEADER]: String(journal.head),
    };
    for (const name of FORWARDED_HEADERS) {
      const value = incoming.headers[name];
      if (typeof value === 'string') headers[name] = value;
    }
    const stream = mux.open({
      kind: 'http',
      principal: verdict.principal,
      ...splitScopes(verdict.scopes),
      origin: origin ?? null,
      headers,
    });
    const exchange = serveExchange(incoming, response, stream, {
      isAttached: () => hosts.has(mux),
      onSpliced: (receipt) => receipts.add(receipt),
      body,
      takePendingResponse: pending,
    });
    response.once('close', exchanges.add(mux, stream.id, exchange));
  };

  const hostFor = async (response: ServerResponse): Promise<Mux | null> => {
    const disconnected = new AbortController();
    const onclose = (): void => disconnected.abort();
    response.once('close', onclose);
    const mux = await hosts.wait(timing.hostWaitMs, disconnected.signal);
    response.off('close', onclose);
    return mux;
  };

  return (request, response) => {
    const { origin } = request.headers;
    if (admission.allowsOrigin(origin)) {
      for (const [name, value] of Object.entries(CORS)) response.setHeader(name, value);
      response.setHeader('access-control-allow-origin', origin);
      if (request.method === 'OPTIONS' && request.headers['access-control-request-method']) {
        const upstream = request.headers['access-control-request-headers'];
        const allowed =
          typeof upstream === 'string' && /^[\w\-, ]{1,1000}$/.test(upstream) ? { 'access-control-allow-headers': upstream } : {};
        response.writeHead(204, { 'access-control-allow-methods': CORS_METHODS, 'access-control-max-age': '600', ...allowed }).end();
        return discardRequest(request);
      }
    }
    serve(request, response).catch((error: unknown) => {
      const id = String(request.headers[REQUEST_ID_HEADER]);
      log(
        `${request.method} ${request.url?.replace(/\?.*/, '')} (${id}) failed: ${error instanceof Error ? error.message : String(error)}`,
      );
      if (response.headersSent) response.destroy();
      else sendError(response, 500, 'Internal bridge error');
    });
  };
}
/**
 * Returns the variant of a request that a cached decision may answer; undefined for other requests and for bodies that take long to arrive.
 */
function getRequestVariant({ method, url = '', headers }: IncomingMessage): string | undefined {
  const length = Number(headers['content-length']);
  if (method !== 'POST' || !/^application\/json\b/i.test(headers['content-type'] ?? '') || !(length <= MAX_STORED_BODY_BYTES))
    return undefined;
  return toVariant(url, readHeader(headers[ANTHROPIC_VERSION_HEADER]), readHeader(headers[ANTHROPIC_BETA_HEADER]));
}

const readHeader = (value: string | string[] | undefined): string | undefined => (typeof value === 'string' ? value : undefined);

/** Reads a request's body, or what has arrived of it when the caller disconnects. */
function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  return new Promise((resolve) => {
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('close', () => resolve(Buffer.concat(chunks)));
    request.once('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    // The response is destroyed along with it.
    request.on('error', () => {});
  });
}
