import type { Clock } from '#shared/async/clock.ts';
import type { Principal } from '#shared/link/hello.ts';
import type { Link } from '#shared/link/link.ts';
import type { SpliceFailure, UsageReceipt } from '#shared/link/splice.ts';
import type { Stream } from '#shared/link/stream.ts';
import { formatErrorBody } from '#shared/http/error-body.ts';
import { isHookUrl, parseChannelHookPath } from '#shared/http/hook-path.ts';
import { OAUTH_CALLBACK_PATH } from '#shared/oauth-callback-path.ts';
import { PUSH_ANSWER_PATH } from '#shared/push-answer-path.ts';
import type { PushAnswersDeps } from './push-answers.ts';
import type { RunningChannels } from '../../automation/channels/running-channels.ts';
import type { Hooks } from '../../automation/hooks/hooks.ts';
import type { Authorizations } from '../../config/oauth/authorizations.ts';
import type { Providers } from '../../providers/providers.ts';
import type { Vault, UsageRecord } from '../../storage/vault-interface.ts';
import type { LogWriter } from '../../system/log/log.ts';
import type { Lazy } from '../../system/modules.ts';
import type { CallerRights } from '../access/caller-rights.ts';
import type { HttpDeps } from './http-deps.ts';
import type { HttpHandler } from './http-handler.ts';
import type { ResponsesSockets } from './responses/responses-socket.ts';
import { guessUsage } from '../../providers/estimate-usage.ts';

interface ReceiptsDeps {
  providers: Pick<Providers, 'addCost'>;
  usage: Pick<Vault['usage'], 'addStrict'>;
  /** Logs requests that the host has not seen. */
  note?: (message: string, fields: Record<string, unknown>) => void;
}

interface HttpServiceDeps extends PushAnswersDeps {
  http: Lazy<HttpHandler>;
  authorizations: Lazy<Authorizations>;
  hooks: Lazy<Hooks>;
  runningChannels: Lazy<Pick<RunningChannels, 'receiveCall'>>;
  clock: Clock;
  vault: Pick<Vault, 'usage'>;
  providers: Providers;
  rights: Pick<CallerRights, 'recordScopeUse'>;
  log: LogWriter;
  fault: HttpDeps['fault'];
}

/** The HTTP side of the gateway: `/v1`, `/mcp`, `/oauth/callback` and `/hooks`, whose code is loaded on first use. */
export class HttpService {
  readonly #deps: HttpServiceDeps;
  #isServing = true;
  #sockets: ResponsesSockets | undefined;

  constructor(deps: HttpServiceDeps) {
    this.#deps = deps;
  }

  async fetch(request: Request, principal: Principal, exchange?: Stream): Promise<Response> {
    const url = new URL(request.url);
    if (url.pathname === OAUTH_CALLBACK_PATH) return this.#finishAuthorization(url.searchParams);
    if (url.pathname === PUSH_ANSWER_PATH && request.method === 'POST')
      return (await import('./push-answers.ts')).answerPush(request, this.#deps);
    if (isHookUrl(url.pathname)) return this.#receiveCall(request);
    return (await this.#deps.http.load())(request, principal, exchange);
  }

  /** Serves a WebSocket at `/v1/responses`. `headers`: those of the client's upgrade request that apply to each of its requests. */
  async acceptResponses(link: Link<string>, principal: Principal, headers: Readonly<Record<string, string>>): Promise<void> {
    const { http, clock } = this.#deps;
    const [handle, { ResponsesSockets }] = await Promise.all([http.load(), import('./responses/responses-socket.ts')]);
    this.#sockets ??= new ResponsesSockets(this.#isServing);
    this.#sockets.accept(link, { headers, clock, answer: (request, turn) => handle(request, principal, undefined, turn) });
  }

  /** Whether this host is active: if not, these WebSockets are closed once they are idle. */
  setServing(isServing: boolean): void {
    this.#isServing = isServing;
    this.#sockets?.setServing(isServing);
  }

  /** Stores the usage of calls that the bridge spliced; resolves once it is stored. */
  storeReceipts(receipts: UsageReceipt[]): Promise<void> {
    const { rights, providers, vault, log } = this.#deps;
    for (const { call } of receipts) rights.recordScopeUse(call.principal, 'v1');
    return storeReceipts(receipts, {
      providers,
      usage: vault.usage,
      note: (message, fields) => log.write('debug', 'http', message, fields),
    });
  }

  /** Text to send after events that the bridge has passed on without the host and that ended with a failure. */
  async writeSpliceFailure(failure: SpliceFailure, signal: AbortSignal): Promise<string> {
    const { providers, fault, log } = this.#deps;
    const { writeSpliceFailure } = await import('./splice-failure-event.ts');
    return writeSpliceFailure(failure, signal, {
      providers,
      fault,
      note: (level, message, fields) => log.write(level, 'http', message, fields),
    });
  }

  /** A call of an incoming hook or of a channel's platform, which the bridge does not authenticate. */
  async #receiveCall(request: Request): Promise<Response> {
    const { hooks, runningChannels, fault } = this.#deps;
    try {
      const channel = parseChannelHookPath(new URL(request.url).pathname);
      if (channel !== undefined) return (await (await runningChannels.load()).receiveCall(channel, request)) ?? createNotRunningResponse();
      return await (await hooks.load()).receive(request);
    } catch (error) {
      const { message } = fault(error);
      return Response.json(formatErrorBody('api_error', message), { status: 503, headers: { 'retry-after': '30' } });
    }
  }

  /** A page for the person. */
  async #finishAuthorization(params: URLSearchParams): Promise<Response> {
    const { renderNoticePage } = await import('#shared/http/notice-page.ts');
    const authorizations = await this.#deps.authorizations.load();
    const { body, ...head } = renderNoticePage(await authorizations.handleCallback(params));
    return new Response(body, head);
  }
}

/** The platform calls again: the channel may still be starting. */
const createNotRunningResponse = (): Response =>
  Response.json(formatErrorBody('api_error', 'This channel is not running.'), { status: 503, headers: { 'retry-after': '30' } });

/**
 * Stores the usage of spliced calls; resolves once it is stored. The same receipt may arrive several times, even at another host: it counts
 * once, by its id.
 */
async function storeReceipts(receipts: UsageReceipt[], { providers, usage, note }: ReceiptsDeps): Promise<void> {
  const records = receipts.map(async ({ call, endedAt, usage: reported, chars }): Promise<UsageRecord> => {
    const { id, provider, model, principal, inputTokens, requestId } = call;
    if (requestId !== undefined) note?.('Answered by a cached route', { requestId, principal, model, status: 200 });
    const usageWithCost = await providers.addCost(model, reported ?? guessUsage(inputTokens, chars));
    return { id, at: endedAt, provider, model, principal, usage: usageWithCost, sessionKey: null };
  });
  await usage.addStrict(await Promise.all(records));
}
