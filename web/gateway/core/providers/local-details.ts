import { z } from '#shared/rpc/zod.ts';
import { readModels } from './listed-models.ts';
import { type ListedModel, listedModel } from './provider.ts';
import type { UpstreamHttp } from './upstream-http.ts';
import type { Watchdog } from './watchdog.ts';

/** Maximum number of Ollama models to query; others are listed without details. */
const MOST_SHOWN = 60;

const shown = z.object({ capabilities: z.array(z.string()).nullish(), model_info: z.record(z.string(), z.unknown()).nullish() });

/** The server's native API is next to the OpenAI one. */
const ownApi = (http: UpstreamHttp, path: string): string => http.baseUrl.replace(/\/v1$/, '') + path;

/** LM Studio's native list, with limits and types; undefined if the server has none (older versions). */
export async function lmStudioModels(http: UpstreamHttp, watchdog: Watchdog): Promise<ListedModel[] | undefined> {
  try {
    return readModels(await http.json(ownApi(http, '/api/v0/models'), watchdog));
  } catch {
    watchdog.signal.throwIfAborted();
    return undefined;
  }
}

/** Adds limits and capabilities, which Ollama reports model by model. Omits models that only embed. `known` is a cache. */
export async function withOllamaDetails(
  http: UpstreamHttp,
  models: readonly ListedModel[],
  known: Map<string, ListedModel | null>,
  watchdog: Watchdog,
): Promise<ListedModel[]> {
  const details = models.map(async (model, index): Promise<ListedModel[]> => {
    if (index >= MOST_SHOWN) return [model];
    let detailed = known.get(model.id);
    if (detailed === undefined) {
      try {
        detailed = detailsOf(model.id, await http.json(ownApi(http, '/api/show'), watchdog, { model: model.id }));
        known.set(model.id, detailed);
      } catch {
        watchdog.signal.throwIfAborted();
        // Another server on Ollama's port: only its list is available.
        return [model];
      }
    }
    return detailed === null ? [] : [detailed];
  });
  return (await Promise.all(details)).flat();
}

function detailsOf(id: string, value: unknown): ListedModel | null {
  const parsed = shown.safeParse(value);
  if (!parsed.success) return listedModel(id);
  const { capabilities, model_info } = parsed.data;
  if (capabilities && !capabilities.includes('completion')) return null;
  const context = Object.entries(model_info ?? {}).find(([name]) => name.endsWith('.context_length'))?.[1];
  return listedModel(id, {
    contextWindow: typeof context === 'number' ? context : null,
    ...(capabilities
      ? { tools: capabilities.includes('tools'), vision: capabilities.includes('vision'), thinking: capabilities.includes('thinking') }
      : {}),
  });
}
