import { z } from '#shared/rpc/zod.ts';
import { count, unixTime } from './number-shapes.ts';

/** `GET /v1/models/{id}`. */
export const model = z.strictObject({
  id: z.string().min(1),
  object: z.literal('model'),
  created: unixTime,
  owned_by: z.string(),
  shutdown_date: z.string().nullish(),
});

/** `GET /v1/models`. */
export const modelList = z.strictObject({ object: z.literal('list'), data: z.array(model) });

/** `POST /v1/embeddings`: vectors are text if `encoding_format` is `base64`. */
export const embeddingList = z.strictObject({
  object: z.literal('list'),
  model: z.string().min(1),
  data: z.array(
    z.strictObject({ object: z.literal('embedding'), index: count, embedding: z.union([z.array(z.number()).min(1), z.base64().min(1)]) }),
  ),
  usage: z.strictObject({ prompt_tokens: count, total_tokens: count }),
});

/** `POST /v1/rerank`, like Jina's API. */
export const ranking = z.strictObject({
  id: z.string().min(1),
  object: z.literal('list'),
  model: z.string().min(1),
  results: z.array(
    z.strictObject({ index: z.number().int(), relevance_score: z.number(), document: z.strictObject({ text: z.string() }).optional() }),
  ),
  usage: z.strictObject({ prompt_tokens: z.number().int(), total_tokens: z.number().int() }),
});

/** `POST /v1/moderations`: the results are the provider's. */
export const moderation = z.looseObject({ id: z.string().min(1), model: z.string().min(1), results: z.array(z.looseObject({})) });
