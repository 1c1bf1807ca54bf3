import type { Principal } from '#shared/link/hello.ts';
import { MESSAGES_PATH, ANTHROPIC_VERSION_HEADER } from '#shared/http/messages-api.ts';
import { RESPONSES_PATH } from '#shared/http/responses-socket.ts';
import type { Area, Level } from '#shared/rpc/scopes.ts';
import { MAIN_AGENT_ID } from '../../config/main-agent.ts';
import { lazy } from '#shared/async/lazy.ts';
import { handleChatCompletions, type ChatDeps } from './chat-endpoint.ts';
import type { Conversations } from './conversations/conversations.ts';
import type { HttpDeps } from './http-deps.ts';
import type { ApiFiles } from './files/api-files.ts';
import { LoadedModels } from './ollama/loaded-models.ts';
import type { ProviderStateCache } from './provider-state-cache.ts';
import { modelNotFound } from './http-error.ts';

/** An entry of `/v1/models`. */
interface ModelObject {
  id: string;
  object: 'model';
  /** Seconds since 1970; servers do not report a model's age, so this is the gateway's start time. */
  created: number;
  owned_by: string;
}

/** Anthropic's clients send their version with every request. */
const isAnthropic = (request: Request): boolean => request.headers.has(ANTHROPIC_VERSION_HEADER);

const MAX_PAGE_SIZE = 1000;

const toAnthropicModel = ({ id, created }: ModelObject): Record<string, unknown> => ({
  ...{ type: 'model', id, display_name: id, created_at: new Date(created * 1000).toISOString() },
  ...{ max_input_tokens: null, max_tokens: null, capabilities: null },
});

interface RouteMethod {
  scope: Area;
  /** A level below `write` that is also sufficient. */
  level?: Level;
  /** Uses a model or tools, so limits apply. */
  works?: true;
  /** `pathParam` and `itemParam`: the path's variable parts, such as the ids of `/v1/conversations/{id}/items/{item}`. */
  handle(request: Request, principal: Principal, deps: ChatDeps, pathParam: string, itemParam: string): Promise<Response>;
}

/** By method; a path with `GET` also answers `HEAD`. */
export type RouteMethods = Readonly<Partial<Record<'GET' | 'POST' | 'DELETE', RouteMethod>>>;

/** Path of the OpenAPI description. */
export const OPENAPI_PATH = '/openapi.json';

type EndpointHandler = (request: Request, principal: string, deps: ChatDeps) => Promise<Response>;

/** A request that uses a model; its module is loaded on demand. */
const createModelMethod = (load: () => Promise<EndpointHandler>): RouteMethod => ({
  scope: 'v1',
  works: true,
  handle: async (request, { id }, deps) => (await load())(request, id, deps),
});

/** Every path of `/v1`, `/api` and `/mcp`. `{name}` is one segment, except for a model's name, which may contain slashes. */
export function createRoutes(
  httpDeps: HttpDeps,
  providerStates: ProviderStateCache,
  uploads: () => Promise<ApiFiles>,
): Readonly<Record<string, RouteMethods>> {
  const startedAtSeconds = Math.floor(httpDeps.clock.now() / 1000);
  const conversations = lazy(async () => new (await import('./conversations/conversations.ts')).Conversations(httpDeps));
  const responses = lazy(async () => {
    const [{ Responses }, chats] = await Promise.all([import('./responses/responses.ts'), conversations()]);
    return new Responses({ ...httpDeps, providerStates, uploads, conversationService: chats });
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
  const mcp: RouteMethod = {
    scope: 'mcp',
    works: true,
    handle: async (request, principal, _deps, agentId) => (await httpDeps.mcp())(request, agentId || MAIN_AGENT_ID, principal),
  };
  return {
    '/v1/chat/completions': {
      POST: { scope: 'v1', works: true, handle: (request, { id }, deps) => handleChatCompletions(request, id, deps) },
    },
    '/v1/completions': { POST: createModelMethod(async () => (await completions()).handleCompletions) },
    [MESSAGES_PATH]: { POST: createModelMethod(async () => (await messages()).handleMessages) },
    [`${MESSAGES_PATH}/count_tokens`]: {
      POST: { scope: 'v1', handle: async (request, _principal, deps) => (await messages()).handleCountTokens(request, deps) },
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
    '/v1/responses/compact': {
      POST: createModelMethod(async () => (request, id) => responses().then((module) => module.compact(request, id))),
    },
    ...createFileRoutes(uploads),
    ...createConversationRoutes(conversations),
    '/v1/embeddings': { POST: createModelMethod(async () => (await embeddings()).handleEmbeddings) },
    '/v1/rerank': { POST: createModelMethod(async () => (await rerank()).handleRerank) },
    '/v1/moderations': {
      POST: createModelMethod(async () => (request) => moderations().then((module) => module.handleModerations(request, httpDeps))),
    },
    '/v1/audio/speech': { POST: createModelMethod(async () => (await speech()).handleSpeech) },
    '/v1/audio/transcriptions': { POST: createModelMethod(async () => (await transcriptions()).handleTranscription) },
    '/v1/audio/translations': { POST: createModelMethod(async () => (await transcriptions()).handleTranslation) },
    '/v1/images/generations': { POST: createModelMethod(async () => (await images()).handleImages) },
    '/v1/images/edits': { POST: createModelMethod(async () => (await images()).handleImageEdits) },
    '/v1/models': { GET: { ...read, handle: (request) => listModels(request, startedAtSeconds, httpDeps) } },
    '/v1/models/{model}': {
      GET: { ...read, handle: (request, _principal, _deps, name) => getModel(request, name, startedAtSeconds, httpDeps) },
    },
    ...createOllamaRoutes(httpDeps, startedAtSeconds * 1000),
    '/mcp': { GET: mcp, POST: mcp, DELETE: mcp },
    '/mcp/{agent}': { GET: mcp, POST: mcp, DELETE: mcp },
    [OPENAPI_PATH]: { GET: { ...read, handle: async () => Response.json((await openApi()).createOpenApiDocument(httpDeps.version)) } },
  };
}

/** Finds a path's methods and its variable parts. */
export function createRouter(
  routes: Readonly<Record<string, RouteMethods>>,
): (path: string) => { methods: RouteMethods; pathParam: string; itemParam: string } | undefined {
  const patterns = Object.entries(routes).flatMap(([template, methods]) => {
    if (!template.includes('{')) return [];
    const source = template.replace('{model}', '(.+)').replaceAll(/\{\w+\}/g, '([^/]+)');
    return [{ pattern: new RegExp(`^${source}$`), methods }];
  });
  return (path) => {
    const fixed = Object.hasOwn(routes, path) ? routes[path] : undefined;
    if (fixed) return { methods: fixed, pathParam: '', itemParam: '' };
    for (const { pattern, methods } of patterns) {
      const found = pattern.exec(path);
      if (found) return { methods, pathParam: found[1] ?? '', itemParam: found[2] ?? '' };
    }
    return undefined;
  };
}

const createReadMethod = (handle: RouteMethod['handle']): RouteMethod => ({ scope: 'v1', level: 'read', handle });
const createWriteMethod = (handle: RouteMethod['handle']): RouteMethod => ({ scope: 'v1', handle });

function createFileRoutes(files: () => Promise<ApiFiles>): Readonly<Record<string, RouteMethods>> {
  return {
    '/v1/files': {
      GET: createReadMethod(async (request, { id }) => (await files()).list(request, id)),
      POST: createWriteMethod(async (request, { id }) => (await files()).upload(request, id)),
    },
    '/v1/files/{id}': {
      GET: createReadMethod(async (_request, { id }, _deps, file) => (await files()).get(file, id)),
      DELETE: createWriteMethod(async (_request, { id }, _deps, file) => (await files()).remove(file, id)),
    },
    '/v1/files/{id}/content': { GET: createReadMethod(async (_request, { id }, _deps, file) => (await files()).content(file, id)) },
  };
}

function createConversationRoutes(conversations: () => Promise<Conversations>): Readonly<Record<string, RouteMethods>> {
  return {
    '/v1/conversations': { POST: createWriteMethod(async (request, { id }) => (await conversations()).create(request, id)) },
    '/v1/conversations/{id}': {
      GET: createReadMethod(async (_request, { id }, _deps, conversationId) => (await conversations()).get(conversationId, id)),
      POST: createWriteMethod(async (request, { id }, _deps, conversationId) =>
        (await conversations()).update(request, conversationId, id),
      ),
      DELETE: createWriteMethod(async (_request, { id }, _deps, conversationId) => (await conversations()).remove(conversationId, id)),
    },
    '/v1/conversations/{id}/items': {
      GET: createReadMethod(async (request, { id }, _deps, conversationId) => (await conversations()).items(request, conversationId, id)),
      POST: createWriteMethod(async (request, { id }, _deps, conversationId) =>
        (await conversations()).addItems(request, conversationId, id),
      ),
    },
    '/v1/conversations/{id}/items/{item}': {
      GET: createReadMethod(async (_request, { id }, _deps, conversationId, itemId) =>
        (await conversations()).item(conversationId, itemId, id),
      ),
      DELETE: createWriteMethod(async (_request, { id }, _deps, conversationId, itemId) =>
        (await conversations()).removeItem(conversationId, itemId, id),
      ),
    },
  };
}

/** Ollama's own API, for clients that support nothing else. `startedAt`: milliseconds since 1970. */
function createOllamaRoutes(httpDeps: HttpDeps, startedAt: number): Readonly<Record<string, RouteMethods>> {
  const ollama = lazy(() => import('./ollama/ollama.ts'));
  const loaded = new LoadedModels(httpDeps.clock);
  const answer = (name: 'handleOllamaChat' | 'handleOllamaGenerate' | 'handleOllamaEmbed' | 'handleOllamaEmbeddings'): RouteMethod =>
    createModelMethod(async () => {
      const { [name]: handle } = await ollama();
      return (request, principal, deps) => handle(request, principal, { ...deps, loaded });
    });
  return {
    '/api/version': { GET: createReadMethod(async () => (await ollama()).getOllamaVersion()) },
    '/api/tags': { GET: createReadMethod(async (request) => (await ollama()).listOllamaTags(request, startedAt, httpDeps)) },
    '/api/ps': { GET: createReadMethod(async (request, { id }) => (await ollama()).listRunningModels(request, id, loaded, httpDeps)) },
    '/api/show': { POST: createReadMethod(async (request) => (await ollama()).showOllamaModel(request, startedAt, httpDeps)) },
    '/api/chat': { POST: answer('handleOllamaChat') },
    '/api/generate': { POST: answer('handleOllamaGenerate') },
    '/api/embed': { POST: answer('handleOllamaEmbed') },
    '/api/embeddings': { POST: answer('handleOllamaEmbeddings') },
  };
}

async function listAll(signal: AbortSignal, created: number, { agents, providers }: HttpDeps): Promise<ModelObject[]> {
  const models = await providers.list({ signal });
  return [
    ...agents.list().map(({ id }): ModelObject => ({ id: `perch/${id}`, object: 'model', created, owned_by: 'perch' })),
    ...models.map(({ key, provider }): ModelObject => ({ id: key, object: 'model', created, owned_by: provider })),
  ];
}

/** `GET /v1/models`: agents first, then models. */
async function listModels(request: Request, created: number, deps: HttpDeps): Promise<Response> {
  const models = await listAll(request.signal, created, deps);
  return Response.json(isAnthropic(request) ? toAnthropicPage(models, new URL(request.url)) : { object: 'list', data: models });
}

/** `GET /v1/models/{id}`; the id may be percent-encoded or contain slashes. */
async function getModel(request: Request, encoded: string, created: number, deps: HttpDeps): Promise<Response> {
  let id = encoded;
  try {
    id = decodeURIComponent(encoded);
  } catch {
    // A stray percent sign: no model has such an id, so the lookup below fails.
  }
  const model = (await listAll(request.signal, created, deps)).find((listed) => listed.id === id);
  if (!model) throw modelNotFound(`The model "${id}" does not exist. Use GET /v1/models to list the available models.`);
  return Response.json(isAnthropic(request) ? toAnthropicModel(model) : model);
}

/** A page of the list in Anthropic's form: `limit`, and `after_id` or `before_id`. */
function toAnthropicPage(models: readonly ModelObject[], { searchParams }: URL): Record<string, unknown> {
  const requestedLimit = Number(searchParams.get('limit') ?? MAX_PAGE_SIZE);
  const limit = Number.isInteger(requestedLimit) && requestedLimit > 0 ? Math.min(requestedLimit, MAX_PAGE_SIZE) : MAX_PAGE_SIZE;
  const after = models.findIndex(({ id }) => id === searchParams.get('after_id')) + 1;
  const before = models.findIndex(({ id }) => id === searchParams.get('before_id'));
  const from = before >= 0 ? Math.max(0, before - limit) : after;
  const page = models.slice(from, before >= 0 ? before : from + limit);
  const hasMore = before >= 0 ? from > 0 : from + limit < models.length;
  return { data: page.map(toAnthropicModel), has_more: hasMore, first_id: page[0]?.id ?? null, last_id: page.at(-1)?.id ?? null };
}
