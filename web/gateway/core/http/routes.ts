import type { Principal } from '#shared/link/hello.ts';
import { MESSAGES_PATH } from '#shared/http/messages-api.ts';
import type { Area, Level } from '#shared/rpc/scopes.ts';
import { MAIN } from '../agents.ts';
import { lazy } from '../lazy.ts';
import { answerChat, type ChatDeps } from './chat.ts';
import type { HttpDeps } from './deps.ts';
import { getModel, listModels } from './models.ts';
import type { Thoughts } from './thoughts.ts';

export interface Method {
  scope: Area;
  /** A level below `write` that includes it too. */
  level?: Level;
  /** It has a model or tools work, which a limit may be set to. */
  works?: true;
  /** `given`: the path's own part, such as the id of `/v1/responses/{id}`. */
  handle(request: Request, principal: Principal, deps: ChatDeps, given: string): Promise<Response>;
}

/** By method; a path with `GET` also answers `HEAD`. */
export type Methods = Readonly<Partial<Record<'GET' | 'POST' | 'DELETE', Method>>>;

/** Path of the API's description. */
export const OPENAPI_PATH = '/openapi.json';

type Answer = (request: Request, principal: string, deps: ChatDeps) => Promise<Response>;

/** A request that has a model work; its module is loaded on demand. */
const work = (load: () => Promise<Answer>): Method => ({
  scope: 'v1',
  works: true,
  handle: async (request, { id }, deps) => (await load())(request, id, deps),
});

/** Every path of `/v1` and `/mcp`. `{name}` is one segment, except for a model's name, which may contain slashes. */
export function createRoutes(given: HttpDeps, thoughts: Thoughts): Readonly<Record<string, Methods>> {
  const started = Math.floor(given.clock.now() / 1000);
  const responses = lazy(async () => new (await import('./responses/responses.ts')).Responses({ ...given, thoughts }));
  const embeddings = lazy(() => import('./embeddings.ts'));
  const messages = lazy(() => import('./messages/messages.ts'));
  const completions = lazy(() => import('./completions/completions.ts'));
  const speech = lazy(() => import('./media/speech.ts'));
  const transcriptions = lazy(() => import('./media/transcriptions.ts'));
  const images = lazy(() => import('./media/images.ts'));
  const openApi = lazy(() => import('./openapi/openapi.ts'));
  const read = { scope: 'v1', level: 'read' } as const;
  /** The protocol's own handler says which of them it takes. */
  const mcp: Method = {
    scope: 'mcp',
    works: true,
    handle: async (request, principal, _deps, agentId) => (await given.mcp())(request, agentId || MAIN, principal),
  };
  return {
    '/v1/chat/completions': { POST: { scope: 'v1', works: true, handle: (request, { id }, deps) => answerChat(request, id, deps) } },
    '/v1/completions': { POST: work(async () => (await completions()).answerCompletion) },
    [MESSAGES_PATH]: { POST: work(async () => (await messages()).answerMessages) },
    [`${MESSAGES_PATH}/count_tokens`]: {
      POST: { scope: 'v1', handle: async (request, _principal, deps) => (await messages()).countMessageTokens(request, deps) },
    },
    '/v1/responses': {
      POST: { scope: 'v1', works: true, handle: async (request, { id }, { explain }) => (await responses()).create(request, id, explain) },
    },
    '/v1/responses/{id}': {
      GET: { ...read, handle: async (request, principal, _deps, id) => (await responses()).get(request, id, principal.id) },
      DELETE: { scope: 'v1', handle: async (_request, principal, _deps, id) => (await responses()).remove(id, principal.id) },
    },
    '/v1/responses/{id}/input_items': {
      GET: { ...read, handle: async (request, principal, _deps, id) => (await responses()).inputItems(request, id, principal.id) },
    },
    '/v1/responses/{id}/cancel': {
      POST: { scope: 'v1', handle: async (_request, principal, _deps, id) => (await responses()).cancel(id, principal.id) },
    },
    '/v1/embeddings': { POST: work(async () => (await embeddings()).answerEmbeddings) },
    '/v1/audio/speech': { POST: work(async () => (await speech()).answerSpeech) },
    '/v1/audio/transcriptions': { POST: work(async () => (await transcriptions()).answerTranscription) },
    '/v1/audio/translations': { POST: work(async () => (await transcriptions()).answerTranslation) },
    '/v1/images/generations': { POST: work(async () => (await images()).answerImages) },
    '/v1/images/edits': { POST: work(async () => (await images()).answerImageEdits) },
    '/v1/models': { GET: { ...read, handle: (request) => listModels(request, started, given) } },
    '/v1/models/{model}': { GET: { ...read, handle: (request, _principal, _deps, name) => getModel(request, name, started, given) } },
    '/mcp': { GET: mcp, POST: mcp, DELETE: mcp },
    '/mcp/{agent}': { GET: mcp, POST: mcp, DELETE: mcp },
    [OPENAPI_PATH]: { GET: { ...read, handle: async () => Response.json((await openApi()).openApiDocument(given.version)) } },
  };
}

/** Finds a path's methods, and the part of the path that its template leaves open. */
export function createRouter(routes: Readonly<Record<string, Methods>>): (path: string) => { methods: Methods; given: string } | undefined {
  const patterns = Object.entries(routes).flatMap(([template, methods]) => {
    if (!template.includes('{')) return [];
    const source = template.replace('{model}', '(.+)').replace(/\{\w+\}/, '([^/]+)');
    return [{ pattern: new RegExp(`^${source}$`), methods }];
  });
  return (path) => {
    const fixed = Object.hasOwn(routes, path) ? routes[path] : undefined;
    if (fixed) return { methods: fixed, given: '' };
    for (const { pattern, methods } of patterns) {
      const found = pattern.exec(path);
      if (found) return { methods, given: found[1] ?? '' };
    }
    return undefined;
  };
}
