import { z } from '#shared/rpc/zod.ts';

/** Settings of semantic search, which complements text search. */
export const embeddingSettings = z.strictObject({
  /** Embedding model, as `<provider>/<model_id>`; null searches by text only. Texts of the memory are sent to its provider. */
  model: z.string().trim().min(3).max(300).nullable().default(null),
});
