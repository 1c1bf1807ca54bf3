import type { ModelEntry } from '#shared/rpc/record-schemas.ts';
import type { HttpDeps } from '../http-deps.ts';

/** The tag that Ollama's clients add to a name without one. */
const DEFAULT_TAG = ':latest';

/** A model or agent with the name that API clients use. */
export interface NamedModel {
  name: string;
  /** The model; undefined for an agent. */
  entry?: ModelEntry;
}

/** Agents first, then models, as in `/v1/models`. */
export async function listNamedModels(signal: AbortSignal, { agents, providers }: HttpDeps): Promise<NamedModel[]> {
  const models = await providers.list({ signal });
  return [...agents.list().map(({ id }) => ({ name: `perch/${id}` })), ...models.map((entry) => ({ name: entry.key, entry }))];
}

/** Removes the tag if the client has added it and no model is listed with it. */
export async function withoutDefaultTag(name: string, signal: AbortSignal, deps: HttpDeps): Promise<string> {
  if (!name.endsWith(DEFAULT_TAG)) return name;
  const models = await listNamedModels(signal, deps);
  return models.some((model) => model.name === name) ? name : name.slice(0, -DEFAULT_TAG.length);
}
