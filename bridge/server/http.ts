import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { maxBodyBytes, toTooLarge } from '#shared/http/body-limits.ts';
import { BETA_HEADER, toVariant, VERSION_HEADER } from '#shared/http/messages-api.ts';
import { REQUEST_ID } from '#shared/http/request-id.ts';
import type { Mux } from '#shared/link/mux.ts';
import { KEPT_BODY } from '#shared/link/splice.ts';
import { allows, splitScopes } from '#shared/rpc/scopes.ts';
import { HEAD_HEADER } from '#shared/ports/journal.ts';
import { VIA } from '../capabilities/asking.ts';
import type { Journal } from '../journal/journal.ts';
import type { Admission } from './admission.ts';
import { type Auth, tokenOf } from './auth.ts';
import { answerByDecision } from './by-decision.ts';
import { discard, exchange, type Exchanges } from './exchange.ts';
import type { Gauge } from './gauge.ts';
import { denialOf, sendError } from './http-errors.ts';
import type { Hosts } from './hosts.ts';
import type { Receipts } from './receipts.ts';
import type { Standing } from './standing.ts';
import type { Timing } from './timing.ts';

export interface HttpDeps {
  admission: Admission;
  auth: Auth;
  hosts: Hosts;
  journal: Pick<Journal, 'head'>;
  timing: Timing;
  /** Number of exchanges in progress and its maximum; further ones are rejected immediately. */
  gauge: Gauge;
  maxExchanges: number;
  /** This gateway's id in its outgoing requests (capabilities/egress.ts). */
  via: string;
  /** Exchanges that can be answered past the host, and usage reports of such responses. */
  exchanges: Exchanges;
  receipts: Receipts;
  /** Cached decisions of hosts. */
  standing: Standing;
  log(line: string): void;
}

export const OWN_REQUEST = 'The request came from this gateway. It can’t be its own provider.';
export const TOO_MANY = 'Too many requests in progress';
export const NO_HOST = 'No gateway is running. Open the app, or start the gateway with a managed browser.';

/** Headers of the caller that are passed on to the host. */
const PASSED_ON = [
  ...['content-type', 'accept', 'user-agent', 'x-perch-session', REQUEST_ID, VERSION_HEADER, BETA_HEADER],
  ...['mcp-protocol-version', 'mcp-session-id', 'mcp-method', 'mcp-name', 'last-event-id'],
];

/** Whether a URL belongs to `/v1`, `/api` (Ollama), `/mcp` or `/openapi.json`, whose responses all include the request's id. */
export const isApi = (url = ''): boolean => /^\/(?:v1|api|mcp|openapi\.json)(?:[/?]|$)/.test(url);
const CORS = { vary: 'Origin', 'access-control-expose-headers': 'Retry-After, X-Request-Id, Request-Id, X-Perch-Ignored, Mcp-Session-Id' };
const CORS_METHODS = 'GET, POST, PUT, PATCH, DELETE';

/**
 * Handles `/v1` and `/mcp`: admits the caller and forwards the exchange to the host. Does not use Fastify, most of whose work per request
 * is not needed here.
 */
export function apiListener(deps: HttpDeps): RequestListener {
  const { admission, auth, hosts, journal, timing, gauge, maxExchanges, via, exchanges, receipts, standing, log } = deps;
  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const refuse = (status: number, message: string, headers?: Record<string, string>): void => {
      sendError(response, status, message, headers);
      discard(incoming);
    };
    const { origin } = incoming.headers;
    const verdict = auth.checkBearer(tokenOf(incoming), origin);
    if (!verdict.ok) {
      const { status, headers } = denialOf(verdict);
      return refuse(status, verdict.message, headers);
    }
    // Each pass would start another run until no exchanges are left.
    if (incoming.headers[VIA] === via) return refuse(508, OWN_REQUEST);
    if ((incoming.headers['content-encoding'] ?? 'identity') !== 'identity')
      return refuse(400, 'Compressed request bodies are not supported (Content-Encoding)');
    const maxBytes = maxBodyBytes(incoming.headers['content-type']);
    if (Number(incoming.headers['content-length'] ?? 0) > maxBytes) return refuse(413, toTooLarge(maxBytes));
    if (gauge.count >= maxExchanges) return refuse(503, TOO_MANY, { 'retry-after': '1' });
    response.once('close', gauge.enter());
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

    const variant = standing.any(mux) && allows(verdict.scopes, 'v1') ? variantOf(incoming) : undefined;
    const whole = variant !== undefined;
    const body = whole ? await readAll(incoming) : undefined;
    if (response.destroyed || (whole && !incoming.complete)) return;
    const decided = body && standing.decide(mux, verdict.principal, body, variant);
    const caller = { requestId: String(incoming.headers[REQUEST_ID]), response };
    const inHand = decided && (await answerByDecision(decided, caller, { mux, receipts, standing }));
    if (inHand === 'answered') return;
    if (response.destroyed) return inHand?.leave();

    const headers: Record<string, string> = {
      ':method': incoming.method ?? 'GET',
      ':path': incoming.url ?? '/',
      [HEAD_HEADER]: String(journal.head),
    };
    for (const name of PASSED_ON) {
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
    const under = exchange(incoming, response, stream, {
      isAttached: () => hosts.has(mux),
      spliced: (receipt) => receipts.add(receipt),
      body,
      inHand,
    });
    response.once('close', exchanges.add(mux, stream.id, under));
  };

  const hostFor = async (response: ServerResponse): Promise<Mux | null> => {
    const hungUp = new AbortController();
    const onclose = (): void => hungUp.abort();
    response.once('close', onclose);
    const mux = await hosts.wait(timing.hostWaitMs, hungUp.signal);
    response.off('close', onclose);
    return mux;
  };

  return (request, response) => {
    const { origin } = request.headers;
    if (admission.allowsOrigin(origin)) {
      for (const [name, value] of Object.entries(CORS)) response.setHeader(name, value);
      response.setHeader('access-control-allow-origin', origin);
      if (request.method === 'OPTIONS' && request.headers['access-control-request-method']) {
        const asked = request.headers['access-control-request-headers'];
        const allowed = typeof asked === 'string' && /^[\w\-, ]{1,1000}$/.test(asked) ? { 'access-control-allow-headers': asked } : {};
        response.writeHead(204, { 'access-control-allow-methods': CORS_METHODS, 'access-control-max-age': '600', ...allowed }).end();
        return discard(request);
      }
    }
    serve(request, response).catch((error: unknown) => {
      const id = String(request.headers[REQUEST_ID]);
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
function variantOf({ method, url = '', headers }: IncomingMessage): string | undefined {
  const length = Number(headers['content-length']);
  if (method !== 'POST' || !/^application\/json\b/i.test(headers['content-type'] ?? '') || !(length <= KEPT_BODY)) return undefined;
  return toVariant(url, readHeader(headers[VERSION_HEADER]), readHeader(headers[BETA_HEADER]));
}

const readHeader = (value: string | string[] | undefined): string | undefined => (typeof value === 'string' ? value : undefined);

/** Reads a request's body, or what has arrived of it when the caller disconnects. */
function readAll(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  return new Promise((resolve) => {
    request.on('data', (chunk: Buffer) => parts.push(chunk));
    request.once('close', () => resolve(Buffer.concat(parts)));
    request.once('end', () => resolve(parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts)));
    // The response is destroyed along with it.
    request.on('error', () => {});
  });
}
