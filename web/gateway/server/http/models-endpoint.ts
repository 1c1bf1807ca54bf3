import { ANTHROPIC_VERSION_HEADER } from '#shared/http/messages-api.ts';
import { modelNotFound } from './http-error.ts';
import type { HttpDeps } from './http-deps.ts';

/** An entry of `/v1/models`. */
interface ModelObject {
  id: string;
  object: 'model';
  /** Seconds since 1970; servers do not report a model's age, so this is the gateway's start time. */
  created: number;
  owned_by: string;
}

async function listAll(signal: AbortSignal, created: number, { agents, providers }: HttpDeps): Promise<ModelObject[]> {
  const models = await providers.list({ signal });
  return [
    ...agents.list().map(({ id }): ModelObject => ({ id: `perch/${id}`, object: 'model', created, owned_by: 'perch' })),
    ...models.map(({ key, provider }): ModelObject => ({ id: key, object: 'model', created, owned_by: provider })),
  ];
}

/** `GET /v1/models`: agents first, then models. */
export async function listModels(request: Request, created: number, deps: HttpDeps): Promise<Response> {
  const models = await listAll(request.signal, created, deps);
  return Response.json(isAnthropic(request) ? toAnthropicPage(models, new URL(request.url)) : { object: 'list', data: models });
}

/** `GET /v1/models/{id}`; the id may be percent-encoded or contain slashes. */
export async function getModel(request: Request, encoded: string, created: number, deps: HttpDeps): Promise<Response> {
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

/** Anthropic's clients send their version with every request. */
const isAnthropic = (request: Request): boolean => request.headers.has(ANTHROPIC_VERSION_HEADER);

const MAX_PAGE_SIZE = 1000;

const toAnthropicModel = ({ id, created }: ModelObject): Record<string, unknown> => ({
  ...{ type: 'model', id, display_name: id, created_at: new Date(created * 1000).toISOString() },
  ...{ max_input_tokens: null, max_tokens: null, capabilities: null },
});

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
