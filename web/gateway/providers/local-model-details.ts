import { z } from '#shared/rpc/zod.ts';
import { parseModelList } from './read-models.ts';
import { type ListedModel, createListedModel } from './provider.ts';
import type { UpstreamHttp } from './upstream-http.ts';
import type { Watchdog } from '#shared/async/watchdog.ts';

/** Maximum number of Ollama models to query; others are listed without details. */
const MAX_QUERIED_MODELS = 60;

const showResponse = z.object({ capabilities: z.array(z.string()).nullish(), model_info: z.record(z.string(), z.unknown()).nullish() });

/** The server's native API is next to the OpenAI one. */
const toNativeUrl = (http: UpstreamHttp, path: string): string => http.baseUrl.replace(/\/v1$/, '') + path;

/** LM Studio's native list, with limits and types; undefined if the server has none (older versions). */
export async function readLmStudioModels(http: UpstreamHttp, watchdog: Watchdog): Promise<ListedModel[] | undefined> {
  try {
    return parseModelList(await http.json(toNativeUrl(http, '/api/v0/models'), watchdog));
  } catch {
    watchdog.signal.throwIfAborted();
    return undefined;
  }
}

/** Adds limits and capabilities, which Ollama reports model by model. Omits models that only embed. `cachedDetails` is a cache. */
export async function withOllamaDetails(
  http: UpstreamHttp,
  models: readonly ListedModel[],
  cachedDetails: Map<string, ListedModel | null>,
  watchdog: Watchdog,
): Promise<ListedModel[]> {
  const details = models.map(async (model, index): Promise<ListedModel[]> => {
    if (index >= MAX_QUERIED_MODELS) return [model];
    let modelDetails = cachedDetails.get(model.id);
    if (modelDetails === undefined) {
      try {
        modelDetails = toListedModel(model.id, await http.json(toNativeUrl(http, '/api/show'), watchdog, { model: model.id }));
        cachedDetails.set(model.id, modelDetails);
      } catch {
        watchdog.signal.throwIfAborted();
        // Another server on Ollama's port: only its list is available.
        return [model];
      }
    }
    return modelDetails === null ? [] : [modelDetails];
  });
  return (await Promise.all(details)).flat();
}

function toListedModel(id: string, value: unknown): ListedModel | null {
  const parsed = showResponse.safeParse(value);
  if (!parsed.success) return createListedModel(id);
  const { capabilities, model_info } = parsed.data;
  if (capabilities && !capabilities.includes('completion')) return null;
  const context = Object.entries(model_info ?? {}).find(([name]) => name.endsWith('.context_length'))?.[1];
  return createListedModel(id, {
    contextWindow: typeof context === 'number' ? context : null,
    ...(capabilities
      ? { tools: capabilities.includes('tools'), vision: capabilities.includes('vision'), thinking: capabilities.includes('thinking') }
      : {}),
  });
}
