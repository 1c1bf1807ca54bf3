import type { Principal } from '#shared/link/hello.ts';
import { REQUEST_ID, requestIdOf } from '#shared/http/request-id.ts';
import { allows, type Scope } from '#shared/rpc/contract.ts';
import { answerChat, type ChatDeps } from './chat.ts';
import type { HttpDeps } from './deps.ts';
import { HttpError, toHttpError } from './errors.ts';
import { getModel, listModels } from './models.ts';
import { Thoughts } from './thoughts.ts';

interface RouteEntry {
  methods: string;
  scope: Scope;
  handle(request: Request, principal: Principal): Promise<Response>;
}

/**
 * `/v1` as one fetch handler (interface document 1, section 4.3; decisions, "HTTP"). The caller has been let in already: `principal` is
 * who it is. Every failure is a response with an error object, never a rejection.
 */
export function createHttp(given: HttpDeps): (request: Request, principal: Principal) => Promise<Response> {
  const thoughts = new Thoughts();
  const started = Math.floor(given.clock.now() / 1000);
  const find = (path: string, deps: ChatDeps): RouteEntry | undefined => {
    if (path === '/v1/chat/completions')
      return { methods: 'POST', scope: 'write', handle: (request, principal) => answerChat(request, principal.id, deps) };
    if (path === '/v1/models') return { methods: 'GET, HEAD', scope: 'read', handle: (request) => listModels(request, started, deps) };
    const model = /^\/v1\/models\/(.+)$/.exec(path)?.[1];
    return model === undefined
      ? undefined
      : { methods: 'GET, HEAD', scope: 'read', handle: (request) => getModel(request, model, started, deps) };
  };
  const answer = async (request: Request, principal: Principal, deps: ChatDeps): Promise<Response> => {
    try {
      const { pathname } = new URL(request.url);
      const route = find(pathname.length > 1 ? pathname.replace(/\/+$/, '') : pathname, deps);
      if (!route) throw new HttpError(404, 'not_found', `There is nothing at ${pathname}`);
      if (!route.methods.split(', ').includes(request.method)) {
        throw new HttpError(405, 'invalid_request_error', `${request.method} is not allowed here; use ${route.methods}`, {
          headers: { allow: route.methods },
        });
      }
      if (!allows(principal.scopes, route.scope)) throw new HttpError(403, 'forbidden', `This needs the scope "${route.scope}"`);
      if (route.scope === 'write') await deps.admit?.(principal.id);
      const response = await route.handle(request, principal);
      return request.method === 'HEAD' ? new Response(null, response) : response;
    } catch (error) {
      // Who hung up gets no answer, and nothing went wrong here.
      if (request.signal.aborted) return new Response(null, { status: 499 });
      return deps.explain(error).response();
    }
  };
  return async (request, principal) => {
    const requestId = requestIdOf(request.headers.get(REQUEST_ID));
    const about = { requestId, method: request.method, path: new URL(request.url).pathname, principal: principal.id };
    const explain = (error: unknown): HttpError => {
      const told = toHttpError(error, given.fault);
      given.note?.(told.status >= 500 ? 'warn' : 'info', told.message, { ...about, status: told.status });
      return told;
    };
    const response = await answer(request, principal, { ...given, thoughts, explain });
    given.note?.('debug', 'Answered', { ...about, status: response.status });
    response.headers.set(REQUEST_ID, requestId);
    return response;
  };
}
