import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { noticePage } from '#shared/http/notice-page.ts';
import { fetchOver } from '#shared/link/http.ts';
import { HEAD_HEADER } from '#shared/ports/journal.ts';
import { OAUTH_CALLBACK } from '#shared/ports/oauth.ts';
import type { Journal } from '../journal/journal.ts';
import { type Admission, arrivalOf } from './admission.ts';
import type { AuthLimiter } from './auth-limiter.ts';
import type { Gauge } from './gauge.ts';
import type { Hosts } from './hosts.ts';
import { discard } from './exchange.ts';
import type { Timing } from './timing.ts';

/** Parameters that OAuth services return (RFC 6749, sections 4.1.2 and 4.1.2.1; RFC 9207). */
const PARAMETERS = ['state', 'code', 'iss', 'error', 'error_description'];
/** Longer than a host needs to redeem a code. */
const ANSWER_MS = 90_000;
const MAX_PAGE_BYTES = 64 * 1024;
const PASSED_BACK = ['content-type', 'cache-control', 'content-security-policy'];
/** Principal of a callback, which is authorized by its `state` only. */
const PRINCIPAL = 'callback';

export interface OauthCallbackDeps {
  /** Name of the vault. */
  name: string;
  admission: Admission;
  hosts: Hosts;
  journal: Pick<Journal, 'head'>;
  limiter: AuthLimiter;
  timing: Timing;
  gauge: Gauge;
  log(line: string): void;
}

/**
 * Callback path of a vault; an empty name stands for the home's own. All share one loopback address, as services permit (RFC 8252, section
 * 7.3).
 */
export const callbackPath = (name: string): string => (name === '' ? OAUTH_CALLBACK : `${OAUTH_CALLBACK}/${name}`);

/** Returns the name of the vault that a callback URL is for; undefined for other URLs. */
export function callbackVault(url = ''): string | undefined {
  const path = url.replace(/\?.*/, '');
  if (path === OAUTH_CALLBACK) return '';
  return path.startsWith(`${OAUTH_CALLBACK}/`) ? path.slice(OAUTH_CALLBACK.length + 1) : undefined;
}

/**
 * `GET /oauth/callback`: a browser on this machine returns from another service, and the active host answers. Requires no token: only that
 * host knows the `state`. Accepts only user navigations, so that open pages can't try states or use up the attempts.
 */
export function oauthCallback({ name, admission, hosts, journal, limiter, timing, gauge, log }: OauthCallbackDeps): RequestListener {
  /** Limiter key for unknown states. */
  const tries = `OAuth callback${name && ` of ${name}`}`;
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const refuse = (status: number, title: string, text: string, headers?: Record<string, string>): void =>
      send(response, noticePage({ status, title, text, ...(headers ? { headers } : {}) }));
    if (request.method !== 'GET') return refuse(405, 'Method not allowed', 'Open this page in a browser.', { allow: 'GET' });
    const { 'sec-fetch-mode': mode = 'navigate', 'sec-fetch-dest': dest = 'document' } = request.headers;
    if (!admission.isLocal(arrivalOf(request)) || mode !== 'navigate' || dest !== 'document')
      return refuse(403, 'Not available here', 'Open this page in a browser on the computer that runs Perch.');
    const asked = new URL(request.url ?? '', admission.origin).searchParams;
    const query = new URLSearchParams([...asked].filter(([name]) => PARAMETERS.includes(name))).toString();
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

    const gone = new AbortController();
    response.once('close', () => gone.abort(new Error('the browser disconnected')));
    response.once('close', gauge.enter());
    const mux = hosts.current ?? (await hosts.wait(timing.hostWaitMs, gone.signal));
    const away = (): void =>
      refuse(503, 'Perch is not running', 'Open Perch in a tab, then reload this page. The link is valid for 10 minutes.', {
        'retry-after': '2',
      });
    if (!mux) return away();
    let answer: Response;
    let body: Uint8Array;
    try {
      const headers = { ':path': `${OAUTH_CALLBACK}?${query}`, [HEAD_HEADER]: String(journal.head) };
      // Completes even if the browser disconnects: a code can be redeemed once.
      answer = await fetchOver(
        mux,
        { kind: 'http', principal: PRINCIPAL, headers },
        { method: 'GET', signal: AbortSignal.timeout(ANSWER_MS) },
      );
      body = new Uint8Array(await answer.arrayBuffer());
      if (body.byteLength > MAX_PAGE_BYTES) throw new TypeError('the page is too large');
    } catch (error) {
      log(`Couldn’t complete an OAuth callback: ${error instanceof Error ? error.message : String(error)}`);
      return away();
    }
    if (answer.status === 404) limiter.fail(tries);
    const headers = PASSED_BACK.flatMap((name) => {
      const value = answer.headers.get(name);
      return value === null ? [] : [[name, value] as const];
    });
    send(response, { status: answer.status, headers: Object.fromEntries(headers), body });
  };
  return (request, response) => {
    discard(request);
    serve(request, response).catch((error: unknown) => {
      log(`${request.method} ${OAUTH_CALLBACK} failed: ${error instanceof Error ? error.message : String(error)}`);
      response.destroy();
    });
  };
}

interface Page {
  status: number;
  headers: Record<string, string>;
  body: string | Uint8Array;
}

function send(response: ServerResponse, { status, headers, body }: Page): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers }).end(body);
}
