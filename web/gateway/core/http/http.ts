import type { Principal } from '#shared/link/hello.ts';
import type { Stream } from '#shared/link/stream.ts';
import { IGNORED_HEADER } from '#shared/http/ignored.ts';
import { isMessagesApi, MESSAGES_REQUEST_ID, VERSION_HEADER } from '#shared/http/messages-api.ts';
import { isOllamaApi, ollamaError } from '#shared/http/ollama-api.ts';
import { REQUEST_ID, requestIdOf } from '#shared/http/request-id.ts';
import { allows } from '#shared/rpc/scopes.ts';
import { lazy } from '../lazy.ts';
import type { ChatDeps } from './chat.ts';
import type { HttpDeps } from './deps.ts';
import { HttpError, toHttpError } from './errors.ts';
import { answerMessagesError } from './messages/errors.ts';
import type { SocketTurn } from './responses/local-responses.ts';
import { createRouter, createRoutes, type Methods } from './routes.ts';
import { Thoughts } from './thoughts.ts';

/**
 * `/v1`, `/api` and `/mcp` as one fetch handler. The caller is already authenticated as `principal`. `exchange`: stream of a request that
 * the bridge may answer without the host. `turn`: for a request that came over a WebSocket. Every failure is a response with an error
 * object, never a rejection.
 */
export function createHttp(
  given: HttpDeps,
): (request: Request, principal: Principal, exchange?: Stream, turn?: SocketTurn) => Promise<Response> {
  const thoughts = new Thoughts();
  const uploads = lazy(async () => new (await import('./files/files.ts')).ApiFiles(given));
  const find = createRouter(createRoutes(given, thoughts, uploads));
  const answer = async (request: Request, principal: Principal, deps: ChatDeps): Promise<Response> => {
    try {
      const { pathname } = new URL(request.url);
      const found = find(pathname.length > 1 ? pathname.replace(/\/+$/, '') : pathname);
      if (!found) throw new HttpError(404, 'not_found', `Unknown path ${pathname}.`);
      const { methods } = found;
      const asked = request.method === 'HEAD' ? 'GET' : request.method;
      const method = Object.hasOwn(methods, asked) ? methods[asked as keyof Methods] : undefined;
      if (!method) {
        const allow = Object.keys(methods)
          .map((name) => (name === 'GET' ? 'GET, HEAD' : name))
          .join(', ');
        throw new HttpError(405, 'invalid_request_error', `Method ${request.method} is not allowed. Use ${allow}.`, { headers: { allow } });
      }
      if (!allows(principal.scopes, method.scope) && !(method.level && allows(principal.scopes, method.level)))
        throw new HttpError(403, 'forbidden', `This request requires the scope "${method.scope}".`);
      deps.used?.(principal.id, method.scope);
      if (method.works) await deps.admit?.(principal.id);
      const response = await method.handle(request, principal, deps, found.given, found.item);
      return request.method === 'HEAD' ? new Response(null, response) : response;
    } catch (error) {
      // The client disconnected; this is not an error.
      if (request.signal.aborted) return new Response(null, { status: 499 });
      const told = deps.explain(error);
      const { pathname } = new URL(request.url);
      if (isMessagesApi(pathname, request.headers.get(VERSION_HEADER))) return answerMessagesError(error, told, deps.requestId);
      if (isOllamaApi(pathname)) return Response.json(ollamaError(told.message), { status: told.status, headers: told.headers });
      return told.response();
    }
  };
  return async (request, principal, exchange, turn) => {
    const requestId = requestIdOf(request.headers.get(REQUEST_ID));
    const about = { requestId, method: request.method, path: new URL(request.url).pathname, principal: principal.id };
    const explain = (error: unknown): HttpError => {
      const told = toHttpError(error, given.fault);
      given.note?.(told.status >= 500 ? 'warn' : 'info', told.message, { ...about, status: told.status });
      return told;
    };
    const response = await answer(request, principal, { ...given, thoughts, uploads, requestId, explain, exchange, turn });
    const ignored = response.headers.get(IGNORED_HEADER);
    if (ignored !== null) given.note?.('info', 'Ignored parameters', { ...about, ignored });
    given.note?.('debug', 'Answered', { ...about, status: response.status });
    response.headers.set(REQUEST_ID, requestId);
    if (isMessagesApi(about.path, request.headers.get(VERSION_HEADER))) response.headers.set(MESSAGES_REQUEST_ID, requestId);
    return response;
  };
}
