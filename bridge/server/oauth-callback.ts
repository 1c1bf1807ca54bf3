import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { renderNoticePage } from '#shared/http/notice-page.ts';
import { fetchOverStream } from '#shared/link/stream-http.ts';
import { MIN_HEAD_HEADER } from '#shared/ports/journal-streams.ts';
import { OAUTH_CALLBACK_PATH } from '#shared/oauth-callback-path.ts';
import type { Journal } from '../journal/journal.ts';
import { type Admission, toAdmissionRequest } from './admission.ts';
import type { AuthLimiter } from './auth-limiter.ts';
import type { InFlightCounter } from './in-flight-counter.ts';
import type { HostRegistry } from './hosts.ts';
import { discardRequest } from '../passthrough/http-exchange.ts';
import type { Timing } from './timing.ts';

/** Parameters that OAuth services return (RFC 6749, sections 4.1.2 and 4.1.2.1; RFC 9207). */
const PARAMETERS = ['state', 'code', 'iss', 'error', 'error_description'];
/** Longer than a host needs to redeem a code. */
const HOST_RESPONSE_MS = 90_000;
const MAX_PAGE_RESPONSE_BYTES = 64 * 1024;
const RETURNED_HEADERS = ['content-type', 'cache-control', 'content-security-policy'];
/** Principal of a callback, which is authorized by its `state` only. */
const CALLBACK_PRINCIPAL = 'callback';

interface OauthCallbackDeps {
  /** Name of the vault. */
  name: string;
  admission: Admission;
  hosts: HostRegistry;
  journal: Pick<Journal, 'head'>;
  limiter: AuthLimiter;
  timing: Timing;
  gauge: InFlightCounter;
  log(line: string): void;
}

/**
 * Callback path of a vault; an empty name stands for the home's own. All share one loopback address, as services permit (RFC 8252, section
 * 7.3).
 */
export const toCallbackPath = (name: string): string => (name === '' ? OAUTH_CALLBACK_PATH : `${OAUTH_CALLBACK_PATH}/${name}`);

/** Returns the name of the vault that a callback URL is for; undefined for other URLs. */
export function getCallbackVault(url = ''): string | undefined {
  const path = url.replace(/\?.*/, '');
  if (path === OAUTH_CALLBACK_PATH) return '';
  return path.startsWith(`${OAUTH_CALLBACK_PATH}/`) ? path.slice(OAUTH_CALLBACK_PATH.length + 1) : undefined;
}

/**
 * `GET /oauth/callback`: a browser on this machine returns from another service, and the active host answers. Requires no token: only that
 * host knows the `state`. Accepts only user navigations, so that open pages can't try states or use up the attempts.
 */
export function createOauthCallback({ name, admission, hosts, journal, limiter, timing, gauge, log }: OauthCallbackDeps): RequestListener {
  /** Limiter key for unknown states. */
  const tries = `OAuth callback${name && ` of ${name}`}`;
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const refuse = (status: number, title: string, text: string, headers?: Record<string, string>): void =>
      sendPage(response, renderNoticePage({ status, title, text, ...(headers ? { headers } : {}) }));
    if (request.method !== 'GET') return refuse(405, 'Method not allowed', 'Open this page in a browser.', { allow: 'GET' });
    const { 'sec-fetch-mode': mode = 'navigate', 'sec-fetch-dest': dest = 'document' } = request.headers;
    if (!admission.isLocal(toAdmissionRequest(request)) || mode !== 'navigate' || dest !== 'document')
      return refuse(403, 'Not available here', 'Open this page in a browser on the computer that runs Perch.');
    const params = new URL(request.url ?? '', admission.origin).searchParams;
    const query = new URLSearchParams([...params].filter(([name]) => PARAMETERS.includes(name))).toString();
    const lockedMs = limiter.locked(tries);
    if (lockedMs > 0) {
      const headers = { 'retry-after': String(Math.ceil(lockedMs / 1000)) };
      return refuse(
        429,
        'Too many attempts',
        `Too many unknown links were opened. Start again in Perch in ${Math.ceil(lockedMs / 60_000)} minutes.`,
        headers,
      );
    }

    const closeSignal = new AbortController();
    response.once('close', () => closeSignal.abort(new Error('the browser disconnected')));
    response.once('close', gauge.begin());
    const mux = hosts.current ?? (await hosts.wait(timing.hostWaitMs, closeSignal.signal));
    const refuseNoHost = (): void =>
      refuse(503, 'Perch is not running', 'Open Perch in a tab, then reload this page. The link is valid for 10 minutes.', {
        'retry-after': '2',
      });
    if (!mux) return refuseNoHost();
    let answer: Response;
    let body: Uint8Array;
    try {
      const headers = { ':path': `${OAUTH_CALLBACK_PATH}?${query}`, [MIN_HEAD_HEADER]: String(journal.head) };
      // Completes even if the browser disconnects: a code can be redeemed once.
      answer = await fetchOverStream(
        mux,
        { kind: 'http', principal: CALLBACK_PRINCIPAL, headers },
        { method: 'GET', signal: AbortSignal.timeout(HOST_RESPONSE_MS) },
      );
      body = new Uint8Array(await answer.arrayBuffer());
      if (body.byteLength > MAX_PAGE_RESPONSE_BYTES) throw new TypeError('the page is too large');
    } catch (error) {
      log(`Couldn’t complete an OAuth callback: ${error instanceof Error ? error.message : String(error)}`);
      return refuseNoHost();
    }
    if (answer.status === 404) limiter.fail(tries);
    const headers = RETURNED_HEADERS.flatMap((name) => {
      const value = answer.headers.get(name);
      return value === null ? [] : [[name, value] as const];
    });
    sendPage(response, { status: answer.status, headers: Object.fromEntries(headers), body });
  };
  return (request, response) => {
    discardRequest(request);
    serve(request, response).catch((error: unknown) => {
      log(`${request.method} ${OAUTH_CALLBACK_PATH} failed: ${error instanceof Error ? error.message : String(error)}`);
      response.destroy();
    });
  };
}

interface CallbackPage {
  status: number;
  headers: Record<string, string>;
  body: string | Uint8Array;
}

function sendPage(response: ServerResponse, { status, headers, body }: CallbackPage): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers }).end(body);
}
