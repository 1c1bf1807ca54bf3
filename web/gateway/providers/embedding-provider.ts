import { fromBase64 } from '#shared/base64.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Provider } from './provider.ts';

/** A provider that supports embeddings. */
export interface EmbeddingProvider extends Provider {
  /**
   * Sends a body of `POST /embeddings` in the OpenAI format and returns the result, which the caller validates. Rejects with
   * `ProviderError`.
   */
  embed(body: Record<string, unknown>, signal: AbortSignal): Promise<unknown>;
}

export function canEmbed(provider: Provider): provider is EmbeddingProvider {
  return 'embed' in provider && typeof provider.embed === 'function';
}

/** Result of `embed`. */
export const embeddingsSchema = z.looseObject({
  data: z.array(
    z.looseObject({ index: z.number().int().optional().catch(undefined), embedding: z.union([z.string(), z.array(z.number())]) }),
  ),
  usage: z.unknown().optional(),
});

/** Decodes a vector, which may be the base64 of 32-bit floats; undefined if it is invalid. */
export function decodeVector(vector: string | number[]): (ArrayLike<number> & Iterable<number>) | undefined {
  if (typeof vector !== 'string') return vector;
  try {
    return new Float32Array(fromBase64(vector).buffer);
  } catch {
    return undefined;
  }
}
