import { z } from '#shared/rpc/zod.ts';
import { OLLAMA_VERSION } from '#shared/http/ollama-api.ts';
import { readJson } from '../request-body.ts';
import type { HttpDeps } from '../http-deps.ts';
import { badRequest, modelNotFound } from '../http-error.ts';
import { parseHttpParams } from '../parse-http-params.ts';
import { isVisibleTo } from '../ids.ts';
import { KEEP_ALIVE_MS, type LoadedModels } from './loaded-models.ts';
import { listNamedModels, type NamedModel, withoutDefaultTag } from './model-names.ts';

export const showRequest = z.looseObject({ model: z.string().max(300).nullish(), name: z.string().max(300).nullish() });

const getFamily = ({ entry }: NamedModel): string => entry?.provider ?? 'perch';

const toDetails = (model: NamedModel): Record<string, unknown> => ({
  ...{ parent_model: '', format: '', family: getFamily(model), families: [getFamily(model)] },
  ...{ parameter_size: '', quantization_level: '' },
});

/** Clients identify models by their digest. Perch does not have the weights, so it hashes the name. */
async function toDigest(name: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(name)));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

const isEmbedding = (name: string): boolean => /embed|\bbge-|\bgte-|minilm/i.test(name);

function getCapabilities({ name, entry }: NamedModel): string[] {
  if (!entry) return ['completion', 'tools', 'vision'];
  if (isEmbedding(name)) return ['embedding'];
  return [
    'completion',
    ...(entry.supports_tools ? ['tools'] : []),
    ...(entry.supports_vision ? ['vision'] : []),
    ...(entry.supports_thinking ? ['thinking'] : []),
  ];
}

export const getOllamaVersion = (): Response => Response.json({ version: OLLAMA_VERSION });

/** `GET /api/tags`. `startedAt`: the gateway's start time in milliseconds, because servers do not report a model's age. */
export async function listOllamaTags(request: Request, startedAt: number, deps: HttpDeps): Promise<Response> {
  const models = await listNamedModels(request.signal, deps);
  return Response.json({
    models: await Promise.all(
      models.map(async (model) => ({
        ...{ name: model.name, model: model.name, modified_at: new Date(startedAt).toISOString(), size: 0 },
        ...{ digest: await toDigest(model.name), details: toDetails(model) },
      })),
    ),
  });
}

/** Ollama's clients show a later time as "forever". */
const FOREVER = Date.UTC(9999, 0);

/**
 * `GET /api/ps`: models that the caller uses, or has used in the last minutes, by this API or another one. The one that stays longest comes
 * first. `loaded`: those of Ollama's API.
 */
export async function listRunningModels(request: Request, principal: string, loaded: LoadedModels, deps: HttpDeps): Promise<Response> {
  const now = deps.clock.now();
  const used = (await deps.usageSince?.(now - KEEP_ALIVE_MS)) ?? [];
  const expiries = new Map<string, number>();
  for (const record of used)
    if (isVisibleTo(principal, record)) expiries.set(record.model, Math.max(expiries.get(record.model) ?? 0, record.at + KEEP_ALIVE_MS));
  for (const { name, expiresAt } of loaded.list(principal)) expiries.set(name, expiresAt);
  const models = (await listNamedModels(request.signal, deps)).flatMap((model) => {
    const expiresAt = expiries.get(model.name) ?? 0;
    return expiresAt > now ? [{ model, expiresAt }] : [];
  });
  return Response.json({
    models: await Promise.all(
      models
        .sort((a, b) => b.expiresAt - a.expiresAt)
        .map(async ({ model, expiresAt }) => ({
          ...{ name: model.name, model: model.name, size: 0, digest: await toDigest(model.name), details: toDetails(model) },
          ...{ expires_at: new Date(Math.min(expiresAt, FOREVER)).toISOString(), size_vram: 0 },
          ...(model.entry?.context_window == null ? {} : { context_length: model.entry.context_window }),
        })),
    ),
  });
}

/** `POST /api/show`. */
export async function showOllamaModel(request: Request, startedAt: number, deps: HttpDeps): Promise<Response> {
  const { model, name } = parseHttpParams(showRequest, await readJson(request));
  const requestedName = model || name;
  if (!requestedName) throw badRequest('`model` is required.', 'model');
  const modelName = await withoutDefaultTag(requestedName, request.signal, deps);
  const found = (await listNamedModels(request.signal, deps)).find((model) => model.name === modelName);
  if (!found) throw modelNotFound(`The model "${modelName}" does not exist. Use GET /api/tags to list the available models.`);
  const family = getFamily(found);
  const context = found.entry?.context_window;
  return Response.json({
    ...{ license: '', modelfile: `FROM ${found.name}\n`, parameters: '', template: '{{ .Prompt }}', system: '' },
    details: toDetails(found),
    model_info: {
      'general.architecture': family,
      'general.basename': found.entry?.display_name ?? found.name,
      ...(context == null ? {} : { [`${family}.context_length`]: context }),
    },
    capabilities: getCapabilities(found),
    modified_at: new Date(startedAt).toISOString(),
  });
}
