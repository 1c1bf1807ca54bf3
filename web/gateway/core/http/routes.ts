import type { Principal } from '#shared/link/hello.ts';
import { MESSAGES_PATH } from '#shared/http/messages-api.ts';
import { RESPONSES_PATH } from '#shared/http/responses-socket.ts';
import type { Area, Level } from '#shared/rpc/scopes.ts';
import { MAIN } from '../agents.ts';
import { lazy } from '../lazy.ts';
import { answerChat, type ChatDeps } from './chat.ts';
import type { Conversations } from './conversations/conversations.ts';
import type { HttpDeps } from './deps.ts';
import type { ApiFiles } from './files/files.ts';
import { getModel, listModels } from './models.ts';
import { LoadedModels } from './ollama/loaded-models.ts';
import type { Thoughts } from './thoughts.ts';

export interface Method {
  scope: Area;
  /** A level below `write` that is also sufficient. */
  level?: Level;
  /** Uses a model or tools, so limits apply. */
  works?: true;
  /** `given` and `item`: the path's variable parts, such as the ids of `/v1/conversations/{id}/items/{item}`. */
  handle(request: Request, principal: Principal, deps: ChatDeps, given: string, item: string): Promise<Response>;
}

/** By method; a path with `GET` also answers `HEAD`. */
export type Methods = Readonly<Partial<Record<'GET' | 'POST' | 'DELETE', Method>>>;

/** Path of the OpenAPI description. */
export const OPENAPI_PATH = '/openapi.json';

type Answer = (request: Request, principal: string, deps: ChatDeps) => Promise<Response>;

/** A request that uses a model; its module is loaded on demand. */
const work = (load: () => Promise<Answer>): Method => ({
  scope: 'v1',
  works: true,
  handle: async (request, { id }, deps) => (await load())(request, id, deps),
});

/** Every path of `/v1`, `/api` and `/mcp`. `{name}` is one segment, except for a model's name, which may contain slashes. */
export function createRoutes(given: HttpDeps, thoughts: Thoughts, uploads: () => Promise<ApiFiles>): Readonly<Record<string, Methods>> {
  const started = Math.floor(given.clock.now() / 1000);
  const conversations = lazy(async () => new (await import('./conversations/conversations.ts')).Conversations(given));
  const responses = lazy(async () => {
    const [{ Responses }, chats] = await Promise.all([import('./responses/responses.ts'), conversations()]);
    return new Responses({ ...given, thoughts, uploads, chats });
  });
  const rerank = lazy(() => import('./rerank.ts'));
  const moderations = lazy(() => import('./moderations.ts'));
  const embeddings = lazy(() => import('./embeddings.ts'));
  const messages = lazy(() => import('./messages/messages.ts'));
  const completions = lazy(() => import('./completions/completions.ts'));
  const speech = lazy(() => import('./media/speech-endpoint.ts'));
  const transcriptions = lazy(() => import('./media/transcriptions.ts'));
  const images = lazy(() => import('./media/images.ts'));
  const openApi = lazy(() => import('./openapi/openapi.ts'));
  const read = { scope: 'v1', level: 'read' } as const;
  /** The MCP handler decides which methods it accepts. */
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
    [RESPONSES_PATH]: {
      POST: {
        ...{ scope: 'v1', works: true },
        handle: async (request, { id }, { explain, turn }) => (await responses()).create(request, id, explain, turn),
      },
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
    '/v1/responses/input_tokens': {
      POST: { scope: 'v1', handle: async (request, { id }) => (await responses()).inputTokens(request, id) },
    },
    '/v1/responses/compact': { POST: work(async () => (request, id) => responses().then((each) => each.compact(request, id))) },
    ...createFileRoutes(uploads),
    ...createConversationRoutes(conversations),
    '/v1/embeddings': { POST: work(async () => (await embeddings()).answerEmbeddings) },
    '/v1/rerank': { POST: work(async () => (await rerank()).answerRerank) },
    '/v1/moderations': { POST: work(async () => (request) => moderations().then((each) => each.answerModerations(request, given))) },
    '/v1/audio/speech': { POST: work(async () => (await speech()).answerSpeech) },
    '/v1/audio/transcriptions': { POST: work(async () => (await transcriptions()).answerTranscription) },
    '/v1/audio/translations': { POST: work(async () => (await transcriptions()).answerTranslation) },
    '/v1/images/generations': { POST: work(async () => (await images()).answerImages) },
    '/v1/images/edits': { POST: work(async () => (await images()).answerImageEdits) },
    '/v1/models': { GET: { ...read, handle: (request) => listModels(request, started, given) } },
    '/v1/models/{model}': { GET: { ...read, handle: (request, _principal, _deps, name) => getModel(request, name, started, given) } },
    ...createOllamaRoutes(given, started * 1000),
    '/mcp': { GET: mcp, POST: mcp, DELETE: mcp },
    '/mcp/{agent}': { GET: mcp, POST: mcp, DELETE: mcp },
    [OPENAPI_PATH]: { GET: { ...read, handle: async () => Response.json((await openApi()).openApiDocument(given.version)) } },
  };
}

/** Finds a path's methods and its variable parts. */
export function createRouter(
  routes: Readonly<Record<string, Methods>>,
): (path: string) => { methods: Methods; given: string; item: string } | undefined {
  const patterns = Object.entries(routes).flatMap(([template, methods]) => {
    if (!template.includes('{')) return [];
    const source = template.replace('{model}', '(.+)').replaceAll(/\{\w+\}/g, '([^/]+)');
    return [{ pattern: new RegExp(`^${source}$`), methods }];
  });
  return (path) => {
    const fixed = Object.hasOwn(routes, path) ? routes[path] : undefined;
    if (fixed) return { methods: fixed, given: '', item: '' };
    for (const { pattern, methods } of patterns) {
      const found = pattern.exec(path);
      if (found) return { methods, given: found[1] ?? '', item: found[2] ?? '' };
    }
    return undefined;
  };
}

const reading = (handle: Method['handle']): Method => ({ scope: 'v1', level: 'read', handle });
const writing = (handle: Method['handle']): Method => ({ scope: 'v1', handle });

function createFileRoutes(files: () => Promise<ApiFiles>): Readonly<Record<string, Methods>> {
  return {
    '/v1/files': {
      GET: reading(async (request, { id }) => (await files()).list(request, id)),
      POST: writing(async (request, { id }) => (await files()).upload(request, id)),
    },
    '/v1/files/{id}': {
      GET: reading(async (_request, { id }, _deps, file) => (await files()).get(file, id)),
      DELETE: writing(async (_request, { id }, _deps, file) => (await files()).remove(file, id)),
    },
    '/v1/files/{id}/content': { GET: reading(async (_request, { id }, _deps, file) => (await files()).content(file, id)) },
  };
}

function createConversationRoutes(conversations: () => Promise<Conversations>): Readonly<Record<string, Methods>> {
  return {
    '/v1/conversations': { POST: writing(async (request, { id }) => (await conversations()).create(request, id)) },
    '/v1/conversations/{id}': {
      GET: reading(async (_request, { id }, _deps, given) => (await conversations()).get(given, id)),
      POST: writing(async (request, { id }, _deps, given) => (await conversations()).update(request, given, id)),
      DELETE: writing(async (_request, { id }, _deps, given) => (await conversations()).remove(given, id)),
    },
    '/v1/conversations/{id}/items': {
      GET: reading(async (request, { id }, _deps, given) => (await conversations()).items(request, given, id)),
      POST: writing(async (request, { id }, _deps, given) => (await conversations()).addItems(request, given, id)),
    },
    '/v1/conversations/{id}/items/{item}': {
      GET: reading(async (_request, { id }, _deps, given, item) => (await conversations()).item(given, item, id)),
      DELETE: writing(async (_request, { id }, _deps, given, item) => (await conversations()).removeItem(given, item, id)),
    },
  };
}

/** Ollama's own API, for clients that support nothing else. `startedAt`: milliseconds since 1970. */
function createOllamaRoutes(given: HttpDeps, startedAt: number): Readonly<Record<string, Methods>> {
  const ollama = lazy(() => import('./ollama/ollama.ts'));
  const loaded = new LoadedModels(given.clock);
  const answer = (name: 'answerOllamaChat' | 'answerOllamaGenerate' | 'answerOllamaEmbed' | 'answerOllamaEmbeddings'): Method =>
    work(async () => {
      const { [name]: handle } = await ollama();
      return (request, principal, deps) => handle(request, principal, { ...deps, loaded });
    });
  return {
    '/api/version': { GET: reading(async () => (await ollama()).getVersion()) },
    '/api/tags': { GET: reading(async (request) => (await ollama()).listTags(request, startedAt, given)) },
    '/api/ps': { GET: reading(async (request, { id }) => (await ollama()).listRunning(request, id, loaded, given)) },
    '/api/show': { POST: reading(async (request) => (await ollama()).showModel(request, startedAt, given)) },
    '/api/chat': { POST: answer('answerOllamaChat') },
    '/api/generate': { POST: answer('answerOllamaGenerate') },
    '/api/embed': { POST: answer('answerOllamaEmbed') },
    '/api/embeddings': { POST: answer('answerOllamaEmbeddings') },
  };
}
