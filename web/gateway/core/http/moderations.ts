import { z } from '#shared/rpc/zod.ts';
import { hasEndpoints } from '../providers/endpoint.ts';
import { ProviderError } from '../providers/provider.ts';
import { readJson } from './body.ts';
import { forCaller } from './caller.ts';
import type { HttpDeps } from './deps.ts';
import { badRequest, type HttpError } from './errors.ts';
import { parse } from './parse.ts';
import { agentOf, routeOf } from './target.ts';

export const moderationRequest = z.looseObject({
  model: z.string().max(300).nullish(),
  input: z.union([z.string(), z.array(z.unknown()).min(1)], 'must be a text or a list'),
});
const answer = z.looseObject({ results: z.array(z.looseObject({})) });

const noModeration = (who: string): HttpError =>
  badRequest(
    `${who} no moderation. Add OpenAI or Mistral as a provider, and set \`model\` to its moderation model, such as openai/omni-moderation-latest.`,
    'model',
  );

/** `POST /v1/moderations`, forwarded to the model's provider. Throws errors that `toHttpError` explains. */
export function answerModerations(asked: Request, deps: HttpDeps): Promise<Response> {
  return forCaller(asked, async ({ abort: { signal }, settled }) => {
    const body = parse(moderationRequest, await readJson(asked));
    const name = body.model || (await findModerationModel(signal, deps));
    if (name === undefined) throw noModeration('The configured providers have');
    if (agentOf(name, deps) !== undefined) throw noModeration('Agents have');
    const { provider, model } = await routeOf(name, signal, deps);
    if (!hasEndpoints(provider)) throw noModeration(`${provider.name} has`);
    const given = await provider.post('/moderations', { ...body, model }, signal).catch((error: unknown) => {
      if (error instanceof ProviderError && (error.status === 404 || error.status === 405)) throw noModeration(`${provider.name} has`);
      throw error;
    });
    settled();
    const { data } = answer.safeParse(given);
    if (!data) throw new ProviderError(`${provider.name} sent an invalid answer to /moderations.`);
    return Response.json({ id: `modr-${crypto.randomUUID()}`, ...data, model: name });
  });
}

/** Requests often name no model: uses the first listed one with "moderation" in its name. */
const findModerationModel = async (signal: AbortSignal, { providers }: HttpDeps): Promise<string | undefined> =>
  (await providers.list({ signal })).find(({ model_id }) => /moderation/i.test(model_id))?.key;
