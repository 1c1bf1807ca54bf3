import { z } from '#shared/rpc/zod.ts';
import { hasEndpoints } from '../../providers/endpoint-provider.ts';
import { canEmbed } from '../../providers/embedding-provider.ts';
import { ProviderError } from '../../providers/provider.ts';
import type { Route } from '../../providers/providers.ts';
import { countTokens } from '../../providers/tokens/count-tokens.ts';
import { readJson } from './request-body.ts';
import { runForCaller } from './caller.ts';
import type { HttpDeps } from './http-deps.ts';
import { embedTexts } from './embeddings.ts';
import { badRequest } from './http-error.ts';
import { parseHttpParams } from './parse-http-params.ts';
import { findAgentId, resolveRoute } from './request-target.ts';

export const rerankRequest = z.looseObject({
  model: z.string().min(1).max(300),
  query: z.string().min(1),
  documents: z
    .array(z.union([z.string(), z.looseObject({ text: z.string() })], 'must be a text or an object with `text`'))
    .min(1)
    .max(1000),
  top_n: z.number().int().min(1).nullish(),
  return_documents: z.boolean().nullish(),
});

const scoreItem = z.looseObject({ index: z.number().int().min(0), relevance_score: z.number().optional(), score: z.number().optional() });
const scoreList = z.array(scoreItem);
/** Responses of Cohere, Jina, vLLM and llama.cpp; of Voyage; and of Text Embeddings Inference. */
const rerankResponse = z.union([
  z.looseObject({ results: scoreList }).transform(({ results }) => results),
  z.looseObject({ data: scoreList }).transform(({ data }) => data),
  scoreList,
]);

interface Score {
  index: number;
  score: number;
}

/** Statuses of a server that lacks an endpoint. */
const MISSING_ENDPOINT_STATUSES = new Set([404, 405, 501]);

/**
 * `POST /v1/rerank`, compatible with Cohere and Jina: uses the provider's own endpoint, else its embeddings. Throws errors that
 * `toHttpError` explains.
 */
export function handleRerank(request: Request, principal: string, deps: HttpDeps): Promise<Response> {
  return runForCaller(request, async ({ abort: { signal }, release }) => {
    const { model, query, documents, top_n, return_documents } = parseHttpParams(rerankRequest, await readJson(request));
    if (findAgentId(model, deps) !== undefined)
      throw badRequest('Agents can’t rerank. Set `model` to a reranking or embedding model.', 'model');
    const route = await resolveRoute(model, signal, deps);
    const texts = documents.map((document) => (typeof document === 'string' ? document : document.text));
    const scores =
      (await rankByEndpoint(route, query, texts, signal)) ?? (await rankByVectors(model, route, query, texts, principal, signal, deps));
    release();
    let tokens = 0;
    for (const text of [query, ...texts]) tokens += await countTokens(text, route.key, signal);
    if (scores.by === 'endpoint') {
      const usage = { inputTokens: tokens, outputTokens: 0, totalTokens: tokens, estimated: true as const };
      deps.record?.({ at: deps.clock.now(), provider: route.provider.id, model: route.key, principal, usage });
    }
    const results = scores.list
      .filter(({ index }) => index < texts.length)
      .sort((a, b) => b.score - a.score)
      .slice(0, top_n ?? texts.length)
      .map(({ index, score }) => ({ index, relevance_score: score, ...(return_documents ? { document: { text: texts[index] } } : {}) }));
    return Response.json({
      ...{ id: `rerank-${crypto.randomUUID()}`, object: 'list', model, results },
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    });
  });
}

/** Undefined if the server lacks the endpoint. */
async function rankByEndpoint(
  { provider, model }: Route,
  query: string,
  documents: string[],
  signal: AbortSignal,
): Promise<{ by: 'endpoint'; list: Score[] } | undefined> {
  if (!hasEndpoints(provider)) return undefined;
  let response: unknown;
  try {
    response = await provider.post('/rerank', { model, query, documents, top_n: documents.length }, signal);
  } catch (error) {
    if (error instanceof ProviderError && error.status !== undefined && MISSING_ENDPOINT_STATUSES.has(error.status)) return undefined;
    throw error;
  }
  const { data } = rerankResponse.safeParse(response);
  if (!data) throw new ProviderError(`${provider.name} sent an invalid answer to /rerank.`);
  return { by: 'endpoint', list: data.map(({ index, relevance_score, score }) => ({ index, score: relevance_score ?? score ?? 0 })) };
}

async function rankByVectors(
  name: string,
  { provider }: Route,
  query: string,
  documents: string[],
  principal: string,
  signal: AbortSignal,
  deps: HttpDeps,
): Promise<{ by: 'vectors'; list: Score[] }> {
  if (!canEmbed(provider))
    throw badRequest(
      `${provider.name} can’t rerank. Add a provider with /rerank, such as Cohere, Jina, vLLM or llama.cpp, or set \`model\` to an embedding model.`,
      'model',
    );
  const { vectors } = await embedTexts({ model: name, input: [query, ...documents] }, principal, signal, deps);
  const [queryVector = [], ...documentVectors] = vectors;
  return { by: 'vectors', list: documentVectors.map((vector, index) => ({ index, score: computeCosine(queryVector, vector) })) };
}

function computeCosine(a: readonly number[], b: readonly number[]): number {
  let [dot, first, second] = [0, 0, 0];
  for (const [index, value] of a.entries()) {
    const otherValue = b[index] ?? 0;
    dot += value * otherValue;
    first += value * value;
    second += otherValue * otherValue;
  }
  return first === 0 || second === 0 ? 0 : dot / Math.sqrt(first * second);
}
