import { estimateTokens } from '#shared/estimate-tokens.ts';
import { readUsage } from '#shared/http/upstream-usage.ts';
import type { Usage } from '#shared/rpc/record-schemas.ts';
import { canEmbed, embeddingsSchema, decodeVector } from '../../../../providers/embedding-provider.ts';
import type { Providers } from '../../../../providers/providers.ts';
import type { Embedder } from '../../../../knowledge/memory/vectors/passage-vectors.ts';

interface ProviderEmbedderDeps {
  providers: Pick<Providers, 'resolve'>;
  /** Records the usage of a call. */
  onUsage(usage: { provider: string; model: string; usage: Usage }): void;
}

/** An embedder backed by any provider that supports embeddings. */
export function createProviderEmbedder(model: string, { providers, onUsage }: ProviderEmbedderDeps): Embedder {
  return {
    model,
    async embed(texts, signal) {
      const { provider, model: id, key } = await providers.resolve(model, undefined, signal);
      if (!canEmbed(provider)) throw new Error(`${provider.name} does not support embeddings`);
      const parsed = embeddingsSchema.safeParse(await provider.embed({ model: id, input: texts }, signal));
      if (!parsed.success) throw new Error(`${provider.name} sent an invalid embeddings response`);
      const { data, usage } = parsed.data;
      onUsage({ provider: provider.id, model: key, usage: readUsage(usage) ?? createEstimatedUsage(texts) });
      // Some servers return the vectors in another order and set `index`.
      const inOrder = data.every(({ index }) => index !== undefined) ? data.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0)) : data;
      return inOrder.map(({ embedding }) => {
        const vector = decodeVector(embedding);
        if (!vector) throw new Error(`${provider.name} sent an invalid embeddings response`);
        return vector;
      });
    },
  };
}

function createEstimatedUsage(texts: readonly string[]): Usage {
  const inputTokens = texts.reduce((sum, text) => sum + estimateTokens(text), 0);
  return { inputTokens, outputTokens: 0, totalTokens: inputTokens, estimated: true };
}
