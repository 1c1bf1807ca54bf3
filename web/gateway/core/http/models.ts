import { modelNotFound } from './errors.ts';
import type { HttpDeps } from './deps.ts';

/** An entry of `/v1/models` (interface document 1, section 4.3). */
interface Listed {
  id: string;
  object: 'model';
  /** Seconds since 1970; servers do not tell a model's age, so it is the gateway's start. */
  created: number;
  owned_by: string;
}

async function all(signal: AbortSignal, created: number, { agents, providers }: HttpDeps): Promise<Listed[]> {
  const models = await providers.list({ signal });
  return [
    ...agents.list().map(({ id }): Listed => ({ id: `perch/${id}`, object: 'model', created, owned_by: 'perch' })),
    ...models.map(({ key, provider }): Listed => ({ id: key, object: 'model', created, owned_by: provider })),
  ];
}

/** `GET /v1/models`: agents first, then models. */
export async function listModels(request: Request, created: number, deps: HttpDeps): Promise<Response> {
  return Response.json({ object: 'list', data: await all(request.signal, created, deps) });
}

/** `GET /v1/models/{id}`; the id may be percent-encoded or have slashes. */
export async function getModel(request: Request, encoded: string, created: number, deps: HttpDeps): Promise<Response> {
  let id = encoded;
  try {
    id = decodeURIComponent(encoded);
  } catch {
    // A stray percent sign: no model is called that, and the answer below says so.
  }
  const model = (await all(request.signal, created, deps)).find((each) => each.id === id);
  if (!model) throw modelNotFound(`The model "${id}" does not exist. Use GET /v1/models to list the available models.`);
  return Response.json(model);
}
