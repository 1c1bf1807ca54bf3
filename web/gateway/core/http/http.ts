import type { Principal } from '#shared/link/hello.ts';
import type { Stream } from '#shared/link/stream.ts';
import { IGNORED_HEADER } from '#shared/http/ignored.ts';
import { isMessagesApi, MESSAGES_PATH, MESSAGES_REQUEST_ID, VERSION_HEADER } from '#shared/http/messages-api.ts';
import { isOllamaApi, ollamaError } from '#shared/http/ollama-api.ts';
import { REQUEST_ID, requestIdOf } from '#shared/http/request-id.ts';
import { allows, type Area, type Level } from '#shared/rpc/scopes.ts';
import { lazy } from '../lazy.ts';
import { MAIN } from '../agents.ts';
import { answerChat, type ChatDeps } from './chat.ts';
import type { Conversations } from './conversations/conversations.ts';
import type { HttpDeps } from './deps.ts';
import { HttpError, toHttpError } from './errors.ts';
import type { ApiFiles } from './files/files.ts';
import { answerMessagesError } from './messages/errors.ts';
import { getModel, listModels } from './models.ts';
import { Thoughts } from './thoughts.ts';

interface Method {
  scope: Area;
  /** A level below `write` that includes it too. */
  level?: Level;
  /** It has a model or tools work, which a limit may be set to. */
  works?: true;
  handle(request: Request, principal: Principal, deps: ChatDeps): Promise<Response>;
}

/** By method; what can be got can be asked for its head. */
type Methods = Readonly<Partial<Record<'GET' | 'POST' | 'DELETE', Method>>>;

/**
 * `/v1`, `/api` and `/mcp` as one fetch handler (interface document 1, section 4.3; decisions, "HTTP"). The caller has been let in already: `principal` is
 * who it is; `exchange` is the stream on which a request came that the bridge may answer past the host. Every failure is a response with an error object, never a rejection.
 */
export function createHttp(given: HttpDeps): (request: Request, principal: Principal, exchange?: Stream) => Promise<Response> {
  const thoughts = new Thoughts();
  const started = Math.floor(given.clock.now() / 1000);
  const uploads = lazy(async () => new (await import('./files/files.ts')).ApiFiles(given));
  const conversations = lazy(async () => new (await import('./conversations/conversations.ts')).Conversations(given));
  const responses = lazy(async () => {
    const [{ Responses }, chats] = await Promise.all([import('./responses/responses.ts'), conversations()]);
    return new Responses({ ...given, thoughts, uploads, chats });
  });
  const embeddings = lazy(() => import('./embeddings.ts'));
  const messages = lazy(() => import('./messages/messages.ts'));
  const rerank = lazy(() => import('./rerank.ts'));
  const moderations = lazy(() => import('./moderations.ts'));
  const ollama = lazy(() => import('./ollama/ollama.ts'));
  const routes: Readonly<Record<string, Methods>> = {
    '/v1/chat/completions': { POST: { scope: 'v1', works: true, handle: (request, { id }, deps) => answerChat(request, id, deps) } },
    [MESSAGES_PATH]: {
      POST: {
        scope: 'v1',
        works: true,
        handle: async (request, { id }, deps) => (await messages()).answerMessages(request, id, deps),
      },
    },
    [`${MESSAGES_PATH}/count_tokens`]: {
      POST: { scope: 'v1', handle: async (request, _principal, deps) => (await messages()).countMessageTokens(request, deps) },
    },
    '/v1/responses': {
      POST: {
        scope: 'v1',
        works: true,
        handle: async (request, { id }, { explain }) => (await responses()).create(request, id, explain),
      },
    },
    '/v1/responses/input_tokens': {
      POST: { scope: 'v1', handle: async (request, { id }) => (await responses()).inputTokens(request, id) },
    },
    '/v1/responses/compact': {
      POST: { scope: 'v1', works: true, handle: async (request, { id }) => (await responses()).compact(request, id) },
    },
    '/v1/rerank': {
      POST: { scope: 'v1', works: true, handle: async (request, { id }) => (await rerank()).answerRerank(request, id, given) },
    },
    '/v1/moderations': {
      POST: { scope: 'v1', works: true, handle: async (request) => (await moderations()).answerModerations(request, given) },
    },
    '/v1/embeddings': {
      POST: { scope: 'v1', works: true, handle: async (request, { id }) => (await embeddings()).answerEmbeddings(request, id, given) },
    },
    '/v1/models': { GET: { scope: 'v1', level: 'read', handle: (request) => listModels(request, started, given) } },
    ...ollamaRoutes(ollama, started * 1000, given),
    '/v1/files': {
      GET: { scope: 'v1', level: 'read', handle: async (request, { id }) => (await uploads()).list(request, id) },
      POST: { scope: 'v1', handle: async (request, { id }) => (await uploads()).upload(request, id) },
    },
    '/v1/conversations': { POST: { scope: 'v1', handle: async (request, { id }) => (await conversations()).create(request, id) } },
  };
  /** What a response has below its own address. */
  const parts: Readonly<Record<string, (of: string) => Methods>> = {
    input_items: (of) => ({
      GET: { scope: 'v1', level: 'read', handle: async (request, { id }) => (await responses()).inputItems(request, of, id) },
    }),
    cancel: (of) => ({ POST: { scope: 'v1', handle: async (_request, { id }) => (await responses()).cancel(of, id) } }),
  };
  /** The protocol's own handler says which of them it takes. */
  const mcp = (agentId: string): Methods => {
    const method: Method = {
      scope: 'mcp',
      works: true,
      handle: async (request, principal) => (await given.mcp())(request, agentId, principal),
    };
    return { GET: method, POST: method, DELETE: method };
  };
  const find = (path: string): Methods | undefined => {
    if (Object.hasOwn(routes, path)) return routes[path];
    const served = /^\/mcp(?:\/([^/]+))?$/.exec(path);
    if (served) return mcp(served[1] ?? MAIN);
    const [, kind, name] = /^\/v1\/(models|responses|files|conversations)\/(.+)$/.exec(path) ?? [];
    if (name === undefined) return undefined;
    if (kind === 'models') return { GET: { scope: 'v1', level: 'read', handle: (request) => getModel(request, name, started, given) } };
    const [id = '', part, ...rest] = name.split('/');
    if (kind === 'conversations') return rest.length > 1 ? undefined : conversationRoutes(conversations, id, part, rest[0]);
    if (rest.length > 0) return undefined;
    if (kind === 'files') return fileRoutes(uploads, id, part);
    if (part !== undefined) return Object.hasOwn(parts, part) ? parts[part]?.(id) : undefined;
    return {
      GET: { scope: 'v1', level: 'read', handle: async (request, principal) => (await responses()).get(request, id, principal.id) },
      DELETE: { scope: 'v1', handle: async (_request, principal) => (await responses()).remove(id, principal.id) },
    };
  };
  const answer = async (request: Request, principal: Principal, deps: ChatDeps): Promise<Response> => {
    try {
      const { pathname } = new URL(request.url);
      const methods = find(pathname.length > 1 ? pathname.replace(/\/+$/, '') : pathname);
      if (!methods) throw new HttpError(404, 'not_found', `Unknown path ${pathname}.`);
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
      const response = await method.handle(request, principal, deps);
      return request.method === 'HEAD' ? new Response(null, response) : response;
    } catch (error) {
      // Who hung up gets no answer, and nothing went wrong here.
      if (request.signal.aborted) return new Response(null, { status: 499 });
      const told = deps.explain(error);
      const { pathname } = new URL(request.url);
      if (isMessagesApi(pathname, request.headers.get(VERSION_HEADER))) return answerMessagesError(error, told, deps.requestId);
      if (isOllamaApi(pathname)) return Response.json(ollamaError(told.message), { status: told.status, headers: told.headers });
      return told.response();
    }
  };
  return async (request, principal, exchange) => {
    const requestId = requestIdOf(request.headers.get(REQUEST_ID));
    const about = { requestId, method: request.method, path: new URL(request.url).pathname, principal: principal.id };
    const explain = (error: unknown): HttpError => {
      const told = toHttpError(error, given.fault);
      given.note?.(told.status >= 500 ? 'warn' : 'info', told.message, { ...about, status: told.status });
      return told;
    };
    const response = await answer(request, principal, { ...given, thoughts, uploads, requestId, explain, exchange });
    const ignored = response.headers.get(IGNORED_HEADER);
    if (ignored !== null) given.note?.('info', 'Ignored parameters', { ...about, ignored });
    given.note?.('debug', 'Answered', { ...about, status: response.status });
    response.headers.set(REQUEST_ID, requestId);
    if (isMessagesApi(about.path, request.headers.get(VERSION_HEADER))) response.headers.set(MESSAGES_REQUEST_ID, requestId);
    return response;
  };
}

/** Ollama's own API, for programs that speak nothing else. `startedAt`: milliseconds since 1970. */
function ollamaRoutes(
  ollama: () => Promise<typeof import('./ollama/ollama.ts')>,
  startedAt: number,
  given: HttpDeps,
): Record<string, Methods> {
  const reading = (handle: Method['handle']): Methods => ({ GET: { scope: 'v1', level: 'read', handle } });
  const working = (handle: Method['handle']): Methods => ({ POST: { scope: 'v1', works: true, handle } });
  return {
    '/api/version': reading(async () => (await ollama()).getVersion()),
    '/api/tags': reading(async (request) => (await ollama()).listTags(request, startedAt, given)),
    '/api/ps': reading(async () => (await ollama()).listRunning()),
    '/api/show': {
      POST: { scope: 'v1', level: 'read', handle: async (request) => (await ollama()).showModel(request, startedAt, given) },
    },
    '/api/chat': working(async (request, { id }, deps) => (await ollama()).answerOllamaChat(request, id, deps)),
    '/api/generate': working(async (request, { id }, deps) => (await ollama()).answerOllamaGenerate(request, id, deps)),
    '/api/embed': working(async (request, { id }) => (await ollama()).answerOllamaEmbed(request, id, given)),
    '/api/embeddings': working(async (request, { id }) => (await ollama()).answerOllamaEmbeddings(request, id, given)),
  };
}

/** One file of `/v1/files`. */
function fileRoutes(files: () => Promise<ApiFiles>, file: string, part: string | undefined): Methods | undefined {
  const reading = (handle: Method['handle']): Methods => ({ GET: { scope: 'v1', level: 'read', handle } });
  if (part === 'content') return reading(async (_request, { id }) => (await files()).content(file, id));
  if (part !== undefined) return undefined;
  return {
    ...reading(async (_request, { id }) => (await files()).get(file, id)),
    DELETE: { scope: 'v1', handle: async (_request, { id }) => (await files()).remove(file, id) },
  };
}

/** One conversation of `/v1/conversations`, or its items. */
function conversationRoutes(
  conversations: () => Promise<Conversations>,
  conversation: string,
  part: string | undefined,
  item: string | undefined,
): Methods | undefined {
  const reading = (handle: Method['handle']): Method => ({ scope: 'v1', level: 'read', handle });
  const writing = (handle: Method['handle']): Method => ({ scope: 'v1', handle });
  if (part === undefined)
    return {
      GET: reading(async (_request, { id }) => (await conversations()).get(conversation, id)),
      POST: writing(async (request, { id }) => (await conversations()).update(request, conversation, id)),
      DELETE: writing(async (_request, { id }) => (await conversations()).remove(conversation, id)),
    };
  if (part !== 'items') return undefined;
  if (item === undefined)
    return {
      GET: reading(async (request, { id }) => (await conversations()).items(request, conversation, id)),
      POST: writing(async (request, { id }) => (await conversations()).addItems(request, conversation, id)),
    };
  return {
    GET: reading(async (_request, { id }) => (await conversations()).item(conversation, item, id)),
    DELETE: writing(async (_request, { id }) => (await conversations()).removeItem(conversation, item, id)),
  };
}
