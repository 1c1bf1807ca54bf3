import { countTokens } from '../../providers/tokens/count-tokens.ts';
import { toBase64 } from '#shared/base64.ts';
import type { Usage } from '#shared/rpc/record-schemas.ts';
import { z } from '#shared/rpc/zod.ts';
import { readUsage } from '#shared/http/upstream-usage.ts';
import { canEmbed, embeddingsSchema, decodeVector } from '../../providers/embedding-provider.ts';
import { ProviderError } from '../../providers/provider.ts';
import { readJson } from './request-body.ts';
import { runForCaller } from './caller.ts';
import type { HttpDeps } from './http-deps.ts';
import { badRequest } from './http-error.ts';
import { findAgentId, resolveRoute } from './request-target.ts';
import { parseHttpParams } from './parse-http-params.ts';

type EmbeddingInput = string | string[] | number[] | number[][];
const isToken = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isListWith = (value: unknown, isItem: (item: unknown) => boolean): boolean =>
  Array.isArray(value) && value.length > 0 && value.every(isItem);
/** Checked by hand: Zod would report an issue for each of about 100,000 items, for each union member. */
function isEmbeddingInput(value: unknown): value is EmbeddingInput {
  if (typeof value === 'string') return value !== '';
  return (
    isListWith(value, (item) => typeof item === 'string') ||
    isListWith(value, isToken) ||
    isListWith(value, (item) => isListWith(item, isToken))
  );
}

export const embeddingRequest = z.looseObject({
  model: z.string().min(1).max(300),
  input: z.custom<EmbeddingInput>(isEmbeddingInput, 'must be a string, an array of strings, or tokens').meta({ type: ['string', 'array'] }),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z.number().int().min(1).nullish(),
  user: z.string().nullish(),
});

/** `POST /v1/embeddings`. Throws errors that `toHttpError` explains. */
export function handleEmbeddings(request: Request, principal: string, deps: HttpDeps): Promise<Response> {
  return runForCaller(request, async ({ abort, release }) => {
    const body = parseHttpParams(embeddingRequest, await readJson(request));
    const { response, usage, invalidResponse, record } = await requestEmbeddings(body, principal, abort.signal, deps);
    release();
    const encoding = body.encoding_format ?? 'float';
    const data = response.data.map((item, index) => {
      const embedding = encodeVector(item.embedding, encoding);
      if (embedding === undefined) throw invalidResponse;
      return { object: 'embedding', ...item, index: item.index ?? index, embedding };
    });
    record();
    return Response.json({
      object: 'list',
      model: body.model,
      ...response,
      data,
      usage: { prompt_tokens: usage.inputTokens, total_tokens: usage.totalTokens },
    });
  });
}

/** Vectors of texts, in order, for APIs with other formats. Throws errors that `toHttpError` explains. */
export async function embedTexts(
  body: { model: string; input: string[]; dimensions?: number | null | undefined },
  principal: string,
  signal: AbortSignal,
  deps: HttpDeps,
): Promise<{ vectors: number[][]; usage: Usage }> {
  const { response, usage, invalidResponse, record } = await requestEmbeddings(body, principal, signal, deps);
  const vectors = response.data
    .map(({ embedding, index }, position) => ({ vector: decodeVector(embedding), at: index ?? position }))
    .sort((a, b) => a.at - b.at)
    .map(({ vector }) => {
      if (!vector) throw invalidResponse;
      return [...vector];
    });
  if (vectors.length !== body.input.length) throw invalidResponse;
  record();
  return { vectors, usage };
}

interface EmbeddingResult {
  response: z.output<typeof embeddingsSchema>;
  usage: Usage;
  /** Error for an invalid vector. */
  invalidResponse: ProviderError;
  /** Records the usage once all vectors are decoded. */
  record(): void;
}

async function requestEmbeddings(
  body: { model: string; input: EmbeddingInput },
  principal: string,
  signal: AbortSignal,
  deps: HttpDeps,
): Promise<EmbeddingResult> {
  if (findAgentId(body.model, deps) !== undefined)
    throw badRequest('Agents can’t create embeddings. Set `model` to an embedding model.', 'model');
  const { provider, model, key } = await resolveRoute(body.model, signal, deps);
  if (!canEmbed(provider)) throw badRequest(`${provider.name} does not support embeddings. Set \`model\` to an embedding model.`, 'model');
  const parsed = embeddingsSchema.safeParse(await provider.embed({ ...body, model }, signal));
  const unreadable = new ProviderError(`${provider.name} sent an invalid embeddings response.`);
  if (!parsed.success) throw unreadable;
  const usage = readUsage(parsed.data.usage) ?? (await countInputUsage(body.input, key, signal));
  const record = (): void => deps.record?.({ at: deps.clock.now(), provider: provider.id, model: key, principal, usage });
  return { response: parsed.data, usage, invalidResponse: unreadable, record };
}

/** Converts a vector to the requested format, which not every server respects. Undefined if it is invalid. */
function encodeVector(vector: string | number[], encoding: 'float' | 'base64'): string | number[] | undefined {
  if (typeof vector !== 'string') return encoding === 'base64' ? toBase64(new Uint8Array(new Float32Array(vector).buffer)) : vector;
  if (encoding === 'base64') return vector;
  const decoded = decodeVector(vector);
  return decoded && [...decoded];
}

async function countInputUsage(input: z.output<typeof embeddingRequest>['input'], model: string, signal: AbortSignal): Promise<Usage> {
  let inputTokens = 0;
  for (const value of typeof input === 'string' ? [input] : input)
    inputTokens += typeof value === 'string' ? await countTokens(value, model, signal) : typeof value === 'number' ? 1 : value.length;
  return { inputTokens, outputTokens: 0, totalTokens: inputTokens, estimated: true };
}
