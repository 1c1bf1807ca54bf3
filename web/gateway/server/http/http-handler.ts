import type { Principal } from '#shared/link/hello.ts';
import type { Stream } from '#shared/link/stream.ts';
import { IGNORED_HEADER } from '#shared/http/ignored-header.ts';
import { isMessagesApi, MESSAGES_REQUEST_ID_HEADER, ANTHROPIC_VERSION_HEADER } from '#shared/http/messages-api.ts';
import { isOllamaApi, createOllamaError } from '#shared/http/ollama-api.ts';
import { REQUEST_ID_HEADER, toRequestId } from '#shared/http/request-id.ts';
import { allowsScope } from '#shared/rpc/scopes.ts';
import { lazy } from '#shared/async/lazy.ts';
import type { ChatDeps } from './chat-endpoint.ts';
import type { HttpDeps } from './http-deps.ts';
import { HttpError, toHttpError } from './http-error.ts';
import { toMessagesErrorResponse } from './messages/messages-error.ts';
import type { SocketTurn } from './responses/local-responses.ts';
import { createRouter, createRoutes, type RouteMethods } from './http-routes.ts';
import { ProviderStateCache } from './provider-state-cache.ts';

/**
 * `/v1`, `/api` and `/mcp` as one fetch handler. The caller is already authenticated as `principal`. `exchange`: stream of a request that
 * the bridge may answer without the host. `turn`: for a request that came over a WebSocket. Every failure is a response with an error
 * object, never a rejection.
 */
export type HttpHandler = (request: Request, principal: Principal, exchange?: Stream, turn?: SocketTurn) => Promise<Response>;

export function createHttpHandler(httpDeps: HttpDeps): HttpHandler {
  const providerStates = new ProviderStateCache();
  const uploads = lazy(async () => new (await import('./files/api-files.ts')).ApiFiles(httpDeps));
  const findRoute = createRouter(createRoutes(httpDeps, providerStates, uploads));
  const handle = async (request: Request, principal: Principal, deps: ChatDeps): Promise<Response> => {
    try {
      const { pathname } = new URL(request.url);
      const route = findRoute(pathname.length > 1 ? pathname.replace(/\/+$/, '') : pathname);
      if (!route) throw new HttpError(404, 'not_found', `Unknown path ${pathname}.`);
      const { methods } = route;
      const methodName = request.method === 'HEAD' ? 'GET' : request.method;
      const method = Object.hasOwn(methods, methodName) ? methods[methodName as keyof RouteMethods] : undefined;
      if (!method) {
        const allow = Object.keys(methods)
          .map((name) => (name === 'GET' ? 'GET, HEAD' : name))
          .join(', ');
        throw new HttpError(405, 'invalid_request_error', `Method ${request.method} is not allowed. Use ${allow}.`, { headers: { allow } });
      }
      if (!allowsScope(principal.scopes, method.scope) && !(method.level && allowsScope(principal.scopes, method.level)))
        throw new HttpError(403, 'forbidden', `This request requires the scope "${method.scope}".`);
      deps.used?.(principal.id, method.scope);
      if (method.works) await deps.admit?.(principal.id);
      const response = await method.handle(request, principal, deps, route.pathParam, route.itemParam);
      return request.method === 'HEAD' ? new Response(null, response) : response;
    } catch (error) {
      // The client disconnected; this is not an error.
      if (request.signal.aborted) return new Response(null, { status: 499 });
      const httpError = deps.explain(error);
      const { pathname } = new URL(request.url);
      if (isMessagesApi(pathname, request.headers.get(ANTHROPIC_VERSION_HEADER)))
        return toMessagesErrorResponse(error, httpError, deps.requestId);
      if (isOllamaApi(pathname))
        return Response.json(createOllamaError(httpError.message), { status: httpError.status, headers: httpError.headers });
      return httpError.response();
    }
  };
  return async (request, principal, exchange, turn) => {
    const requestId = toRequestId(request.headers.get(REQUEST_ID_HEADER));
    const logFields = { requestId, method: request.method, path: new URL(request.url).pathname, principal: principal.id };
    const explain = (error: unknown): HttpError => {
      const httpError = toHttpError(error, httpDeps.fault);
      httpDeps.note?.(httpError.status >= 500 ? 'warn' : 'info', httpError.message, { ...logFields, status: httpError.status });
      return httpError;
    };
    const response = await handle(request, principal, { ...httpDeps, providerStates, uploads, requestId, explain, exchange, turn });
    const ignored = response.headers.get(IGNORED_HEADER);
    if (ignored !== null) httpDeps.note?.('info', 'Ignored parameters', { ...logFields, ignored });
    httpDeps.note?.('debug', 'Answered', { ...logFields, status: response.status });
    response.headers.set(REQUEST_ID_HEADER, requestId);
    if (isMessagesApi(logFields.path, request.headers.get(ANTHROPIC_VERSION_HEADER)))
      response.headers.set(MESSAGES_REQUEST_ID_HEADER, requestId);
    return response;
  };
}
