import { z } from '#shared/rpc/zod.ts';

/** How memory is searched by meaning beside its words. */
export const embeddingSettings = z.strictObject({
  /** A model that makes embeddings, `<provider>/<model_id>`; null: words alone. What is remembered is sent to its provider. */
  model: z.string().trim().min(3).max(300).nullable().default(null),
});
