import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { REQUEST_ID } from '#shared/http/request-id.ts';
import { fetchOver } from '#shared/link/http.ts';
import type { Mux } from '#shared/link/mux.ts';
import { type Ended, ENDED_KIND, KEPT_BODY, type SplicedCall } from '#shared/link/splice.ts';
import { allows } from '#shared/rpc/contract.ts';
import { HEAD_HEADER } from '#shared/ports/journal.ts';
import { ask, type Asked, type InHand, VIA } from '../capabilities/asking.ts';
import { type GoodAnswer, isSuccess } from '../capabilities/good-answer.ts';
import { HeldAnswer } from '../capabilities/held-answer.ts';
import { WholeAnswer } from '../capabilities/whole-answer.ts';
import type { Journal } from '../journal/journal.ts';
import type { Admission } from './admission.ts';
import { type Auth, bearerOf } from './auth.ts';
import { discard, exchange, type Exchanges, MAX_BODY_BYTES, TOO_LARGE } from './exchange.ts';
import type { Gauge } from './gauge.ts';
import { denialOf, sendError } from './http-errors.ts';
import type { Hosts } from './hosts.ts';
import type { Receipts } from './receipts.ts';
import type { Decided, Standing } from './standing.ts';
import type { Timing } from './timing.ts';

export interface HttpDeps {
  admission: Admission;
  auth: Auth;
  hosts: Hosts;
  journal: Pick<Journal, 'head'>;
  timing: Timing;
  /** How many exchanges are under way, and how many there may be: more are turned away at once. */
  gauge: Gauge;
  maxExchanges: number;
  /** This gateway's name in its own requests (capabilities/egress.ts). */
  via: string;
  /** Where exchanges are found by what answers them past the host, and where it is told what that has used. */
  exchanges: Exchanges;
  receipts: Receipts;
  /** What hosts have decided in advance. */
  standing: Standing;
  log(line: string): void;
}

/** Headers of the caller that the host sees. */
const PASSED_ON = ['content-type', 'accept', 'user-agent', 'x-perch-session', REQUEST_ID];

/** Whether an address is of `/v1`, whose every answer tells the request's id. */
export const isApi = (url = ''): boolean => /^\/v1(?:[/?]|$)/.test(url);
const CORS_METHODS = 'GET, POST, PUT, PATCH, DELETE';

/** `/v1`: admission of the caller, then the exchange goes to the host (decisions, "HTTP"). */
export function httpRoutes(app: FastifyInstance, deps: HttpDeps): void {
  const { admission, auth, hosts, journal, timing, gauge, maxExchanges, via, exchanges, receipts, standing, log } = deps;
  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const refuse = (status: number, message: string, headers?: Record<string, string>): void => {
      sendError(response, status, message, headers);
      discard(incoming);
    };
    const { origin } = incoming.headers;
    const verdict = auth.checkBearer(bearerOf(incoming.headers.authorization), origin);
    if (!verdict.ok) {
      const { status, headers } = denialOf(verdict);
      return refuse(status, verdict.message, headers);
    }
    // Each turn would start another run, until all exchanges are taken.
    if (incoming.headers[VIA] === via) return refuse(400, 'this request came from this gateway itself: it cannot be its own provider');
    if (Number(incoming.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return refuse(413, TOO_LARGE);
    if (gauge.count >= maxExchanges) return refuse(503, 'too many requests are under way', { 'retry-after': '1' });
    response.once('close', gauge.enter());
    // Cut, whatever has been sent: it must not pass for a whole answer.
    if (verdict.hold)
      response.once(
        'close',
        verdict.hold(() => response.destroy()),
      );
    if (response.destroyed) return;

    const hungUp = new AbortController();
    const onclose = (): void => hungUp.abort();
    response.once('close', onclose);
    const mux = await hosts.wait(timing.hostWaitMs, hungUp.signal);
    response.off('close', onclose);
    if (response.destroyed) return;
    if (!mux)
      return refuse(503, 'no gateway is running: open the app, or start the gateway with a browser of its own', { 'retry-after': '2' });

    const whole = standing.any(mux) && allows(verdict.scopes, 'write') && isSmallCompletion(incoming);
    const body = whole ? await readAll(incoming) : undefined;
    if (response.destroyed || (whole && !incoming.complete)) return;
    const decided = body && standing.decide(mux, verdict.principal, body);
    const inHand = decided && (await answerAsDecided(decided, { incoming, response, mux }));
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
    const stream = mux.open({ kind: 'http', principal: verdict.principal, scopes: [...verdict.scopes], origin: origin ?? null, headers });
    const under = exchange(incoming, response, stream, {
      isAttached: () => hosts.has(mux),
      spliced: (receipt) => receipts.add(receipt),
      body,
      inHand,
    });
    response.once('close', exchanges.add(mux, stream.id, under));
  };

  /** Asks as a host has decided. What is asked, where that takes its time or is not a good answer, which alone is the caller's; undefined where nothing came. */
  const answerAsDecided = async (
    { call, events, ...asking }: Decided,
    { incoming, response, mux }: { incoming: IncomingMessage; response: ServerResponse; mux: Mux },
  ): Promise<InHand | 'answered' | undefined> => {
    const gone = new AbortController();
    const leave = (): void => gone.abort();
    response.once('close', leave);
    const coming = ask({ ...asking, via, signal: gone.signal });
    coming.catch(() => {});
    const late = Promise.withResolvers<'late'>();
    const timer = setTimeout(late.resolve, PATIENCE_MS, 'late');
    const left = (asked: Promise<Asked>): InHand => ({ url: asking.url, asked, leave });
    try {
      const asked = await Promise.race([coming, late.promise]);
      // How long it may take is the host's to say.
      if (asked === 'late') return left(coming);
      const answer = isSuccess(asked.head) && (await (events ? HeldAnswer.begin(asked.body, events) : WholeAnswer.begin(asked.body)));
      if (answer && !Array.isArray(answer)) {
        response.off('close', leave);
        if (response.destroyed) answer.leave();
        else giveAnswer(answer, { ...call, id: randomUUID(), requestId: String(incoming.headers[REQUEST_ID]) }, response, mux);
        return 'answered';
      }
      standing.withdraw(mux);
      return left(Promise.resolve({ ...asked, ...(answer ? { read: answer } : {}) }));
    } catch {
      // The host asks again, and says what is wrong.
      standing.withdraw(mux);
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  };

  const giveAnswer = (answer: GoodAnswer, call: SplicedCall, response: ServerResponse, mux: Mux): void => {
    const leave = (): void => answer.leave();
    response.on('error', () => {});
    response.once('close', leave);
    response.writeHead(200, answer.headers);
    answer.pipe(response, ({ how, text, usage, chars }) => {
      response.off('close', leave);
      receipts.add({ call, endedAt: Date.now(), how, chars, ...(usage ? { usage } : {}) });
      if (how === 'done') return void response.end();
      if (how === 'left') return;
      standing.withdraw(mux);
      tellOfEnd(mux, { call, end: { how, ...(text === undefined ? {} : { text }) } }).then(
        (told) => response.end(told),
        // Cut, so that it cannot pass for a whole one.
        () => response.destroy(),
      );
    });
  };

  void app.register(async (scope) => {
    // Bodies are passed on as they come; nothing here reads them.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.addHook('onRequest', async (request, reply) => {
      const { origin } = request.headers;
      if (!admission.allowsOrigin(origin)) return;
      reply.raw.setHeader('access-control-allow-origin', origin);
      reply.raw.setHeader('vary', 'Origin');
      reply.raw.setHeader('access-control-expose-headers', 'Retry-After, X-Request-Id');
      if (request.method !== 'OPTIONS' || !request.headers['access-control-request-method']) return;
      const asked = request.headers['access-control-request-headers'];
      reply.header('access-control-allow-methods', CORS_METHODS).header('access-control-max-age', '600');
      if (typeof asked === 'string' && /^[\w\-, ]{1,1000}$/.test(asked)) reply.header('access-control-allow-headers', asked);
      return reply.code(204).send();
    });
    const handler = (request: FastifyRequest, reply: FastifyReply): void => {
      reply.hijack();
      serve(request.raw, reply.raw).catch((error: unknown) => {
        const id = String(request.headers[REQUEST_ID]);
        log(
          `${request.method} ${request.url.replace(/\?.*/, '')} (${id}) failed: ${error instanceof Error ? error.message : String(error)}`,
        );
        if (reply.raw.headersSent) reply.raw.destroy();
        else sendError(reply.raw, 500, 'the bridge failed');
      });
    };
    scope.all('/v1', handler);
    scope.all('/v1/*', handler);
  });
}

/** How long a host may take to say what a caller is told. */
const TELL_MS = 5_000;

/** What a caller is told behind events that ended badly. Rejects where the host is gone. */
async function tellOfEnd(mux: Mux, given: Ended): Promise<string> {
  const request = { method: 'POST', body: JSON.stringify(given), headers: { 'content-type': 'application/json' } };
  const answer = await fetchOver(mux, { kind: ENDED_KIND }, { ...request, signal: AbortSignal.timeout(TELL_MS) });
  if (!answer.ok) throw new Error(`the host answered ${answer.status}`);
  return answer.text();
}

/** Milliseconds after which what was asked for goes on as the host’s own. */
const PATIENCE_MS = 500;

const COMPLETIONS = '/v1/chat/completions';

/** Whether a request can be answered here where its host has decided so: all of it is soon there. */
function isSmallCompletion({ method, url, headers }: IncomingMessage): boolean {
  const length = Number(headers['content-length']);
  return method === 'POST' && url === COMPLETIONS && /^application\/json\b/i.test(headers['content-type'] ?? '') && length <= KEPT_BODY;
}

/** The body of a request; what there was of it where the caller has gone. */
async function readAll(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  try {
    for await (const chunk of request) parts.push(chunk as Buffer);
  } catch {
    // The response is destroyed with it.
  }
  return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
}
