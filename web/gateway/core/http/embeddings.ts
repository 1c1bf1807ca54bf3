import { countTokens } from '../tokens/count-tokens.ts';
import { toBase64 } from '#shared/base64.ts';
import type { Usage } from '#shared/rpc/records.ts';
import { z } from '#shared/rpc/zod.ts';
import { readUsage } from '#shared/http/upstream-usage.ts';
import { canEmbed, embeddings, vectorOf } from '../providers/embedding.ts';
import { ProviderError } from '../providers/provider.ts';
import { readJson } from './body.ts';
import { forCaller } from './caller.ts';
import type { HttpDeps } from './deps.ts';
import { badRequest } from './errors.ts';
import { agentOf, routeOf } from './target.ts';
import { parse } from './parse.ts';

type Input = string | string[] | number[] | number[][];
const isToken = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isListOf = (value: unknown, fits: (item: unknown) => boolean): boolean =>
  Array.isArray(value) && value.length > 0 && value.every(fits);
/** Checked by hand: Zod would report an issue for each of about 100,000 items, for each union member. */
function isInput(value: unknown): value is Input {
  if (typeof value === 'string') return value !== '';
  return (
    isListOf(value, (item) => typeof item === 'string') || isListOf(value, isToken) || isListOf(value, (item) => isListOf(item, isToken))
  );
}

export const embeddingRequest = z.looseObject({
  model: z.string().min(1).max(300),
  input: z.custom<Input>(isInput, 'must be a string, an array of strings, or tokens').meta({ type: ['string', 'array'] }),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z.number().int().min(1).nullish(),
  user: z.string().nullish(),
});

/** `POST /v1/embeddings`. Throws errors that `toHttpError` explains. */
export function answerEmbeddings(asked: Request, principal: string, deps: HttpDeps): Promise<Response> {
  return forCaller(asked, async ({ abort, settled }) => {
    const body = parse(embeddingRequest, await readJson(asked));
    const { answer, usage, unreadable, record } = await embed(body, principal, abort.signal, deps);
    settled();
    const wanted = body.encoding_format ?? 'float';
    const data = answer.data.map((each, index) => {
      const embedding = encoded(each.embedding, wanted);
      if (embedding === undefined) throw unreadable;
      return { object: 'embedding', ...each, index: each.index ?? index, embedding };
    });
    record();
    return Response.json({
      object: 'list',
      model: body.model,
      ...answer,
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
  const { answer, usage, unreadable, record } = await embed(body, principal, signal, deps);
  const vectors = answer.data
    .map(({ embedding, index }, at) => ({ vector: vectorOf(embedding), at: index ?? at }))
    .sort((one, other) => one.at - other.at)
    .map(({ vector }) => {
      if (!vector) throw unreadable;
      return [...vector];
    });
  if (vectors.length !== body.input.length) throw unreadable;
  record();
  return { vectors, usage };
}

interface Embedded {
  answer: z.output<typeof embeddings>;
  usage: Usage;
  /** Error for an invalid vector. */
  unreadable: ProviderError;
  /** Records the usage once all vectors are decoded. */
  record(): void;
}

async function embed(body: { model: string; input: Input }, principal: string, signal: AbortSignal, deps: HttpDeps): Promise<Embedded> {
  if (agentOf(body.model, deps) !== undefined)
    throw badRequest('Agents can’t create embeddings. Set `model` to an embedding model.', 'model');
  const { provider, model, key } = await routeOf(body.model, signal, deps);
  if (!canEmbed(provider)) throw badRequest(`${provider.name} does not support embeddings. Set \`model\` to an embedding model.`, 'model');
  const parsed = embeddings.safeParse(await provider.embed({ ...body, model }, signal));
  const unreadable = new ProviderError(`${provider.name} sent an invalid embeddings response.`);
  if (!parsed.success) throw unreadable;
  const usage = readUsage(parsed.data.usage) ?? (await guess(body.input, key, signal));
  const record = (): void => deps.record?.({ at: deps.clock.now(), provider: provider.id, model: key, principal, usage });
  return { answer: parsed.data, usage, unreadable, record };
}

/** Converts a vector to the requested format, which not every server respects. Undefined if it is invalid. */
function encoded(vector: string | number[], wanted: 'float' | 'base64'): string | number[] | undefined {
  if (typeof vector !== 'string') return wanted === 'base64' ? toBase64(new Uint8Array(new Float32Array(vector).buffer)) : vector;
  if (wanted === 'base64') return vector;
  const read = vectorOf(vector);
  return read && [...read];
}

async function guess(input: z.output<typeof embeddingRequest>['input'], model: string, signal: AbortSignal): Promise<Usage> {
  let inputTokens = 0;
  for (const value of typeof input === 'string' ? [input] : input)
    inputTokens += typeof value === 'string' ? await countTokens(value, model, signal) : typeof value === 'number' ? 1 : value.length;
  return { inputTokens, outputTokens: 0, totalTokens: inputTokens, estimated: true };
}
