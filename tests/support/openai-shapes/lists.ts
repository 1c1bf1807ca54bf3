import { z } from '#shared/rpc/zod.ts';
import { count, unixTime } from './numbers.ts';

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

/** `POST /v1/embeddings`: vectors are text where `encoding_format` is `base64`. */
export const embeddingList = z.strictObject({
  object: z.literal('list'),
  model: z.string().min(1),
  data: z.array(
    z.strictObject({ object: z.literal('embedding'), index: count, embedding: z.union([z.array(z.number()).min(1), z.base64().min(1)]) }),
  ),
  usage: z.strictObject({ prompt_tokens: count, total_tokens: count }),
});
