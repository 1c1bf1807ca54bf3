import { fromBase64 } from '#shared/base64.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Provider } from './provider.ts';

/** A provider that makes vectors of texts. */
export interface EmbeddingProvider extends Provider {
  /**
   * Answers a body of `POST /embeddings` in the OpenAI format with what that gives, as far as the server told; the caller checks it. Rejects
   * with `ProviderError`.
   */
  embed(body: Record<string, unknown>, signal: AbortSignal): Promise<unknown>;
}

export function canEmbed(provider: Provider): provider is EmbeddingProvider {
  return 'embed' in provider && typeof provider.embed === 'function';
}

/** What `embed` gives, where it can be read. */
export const embeddings = z.looseObject({
  data: z.array(
    z.looseObject({ index: z.number().int().optional().catch(undefined), embedding: z.union([z.string(), z.array(z.number())]) }),
  ),
  usage: z.unknown().optional(),
});

/** A vector, which may be the base64 of its 32-bit numbers; undefined where it cannot be read. */
export function vectorOf(vector: string | number[]): (ArrayLike<number> & Iterable<number>) | undefined {
  if (typeof vector !== 'string') return vector;
  try {
    return new Float32Array(fromBase64(vector).buffer);
  } catch {
    return undefined;
  }
}
