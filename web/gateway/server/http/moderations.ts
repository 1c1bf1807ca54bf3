import { z } from '#shared/rpc/zod.ts';
import { hasEndpoints } from '../../providers/endpoint-provider.ts';
import { ProviderError } from '../../providers/provider.ts';
import { readJson } from './request-body.ts';
import { runForCaller } from './caller.ts';
import type { HttpDeps } from './http-deps.ts';
import { badRequest, type HttpError } from './http-error.ts';
import { parseHttpParams } from './parse-http-params.ts';
import { findAgentId, resolveRoute } from './request-target.ts';

export const moderationRequest = z.looseObject({
  model: z.string().max(300).nullish(),
  input: z.union([z.string(), z.array(z.unknown()).min(1)], 'must be a text or a list'),
});
const moderationResponse = z.looseObject({ results: z.array(z.looseObject({})) });

const createUnsupportedError = (subject: string): HttpError =>
  badRequest(
    `${subject} no moderation. Add OpenAI or Mistral as a provider, and set \`model\` to its moderation model, such as openai/omni-moderation-latest.`,
    'model',
  );

/** `POST /v1/moderations`, forwarded to the model's provider. Throws errors that `toHttpError` explains. */
export function handleModerations(request: Request, deps: HttpDeps): Promise<Response> {
  return runForCaller(request, async ({ abort: { signal }, release }) => {
    const body = parseHttpParams(moderationRequest, await readJson(request));
    const name = body.model || (await findModerationModel(signal, deps));
    if (name === undefined) throw createUnsupportedError('The configured providers have');
    if (findAgentId(name, deps) !== undefined) throw createUnsupportedError('Agents have');
    const { provider, model } = await resolveRoute(name, signal, deps);
    if (!hasEndpoints(provider)) throw createUnsupportedError(`${provider.name} has`);
    const response = await provider.post('/moderations', { ...body, model }, signal).catch((error: unknown) => {
      if (error instanceof ProviderError && (error.status === 404 || error.status === 405))
        throw createUnsupportedError(`${provider.name} has`);
      throw error;
    });
    release();
    const { data } = moderationResponse.safeParse(response);
    if (!data) throw new ProviderError(`${provider.name} sent an invalid answer to /moderations.`);
    return Response.json({ id: `modr-${crypto.randomUUID()}`, ...data, model: name });
  });
}

/** Requests often name no model: uses the first listed one with "moderation" in its name. */
const findModerationModel = async (signal: AbortSignal, { providers }: HttpDeps): Promise<string | undefined> =>
  (await providers.list({ signal })).find(({ model_id }) => /moderation/i.test(model_id))?.key;
