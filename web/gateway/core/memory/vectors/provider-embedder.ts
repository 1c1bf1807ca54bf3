import { estimateTokens } from '#shared/estimate-tokens.ts';
import { readUsage } from '#shared/http/upstream-usage.ts';
import type { Usage } from '#shared/rpc/records.ts';
import { canEmbed, embeddings, vectorOf } from '../../providers/embedding.ts';
import type { Providers } from '../../providers/providers.ts';
import type { Embedder } from './vectors.ts';

export interface ProviderEmbedderDeps {
  providers: Pick<Providers, 'resolve'>;
  /** Records the usage of a call. */
  used(usage: { provider: string; model: string; usage: Usage }): void;
}

/** An embedder backed by any provider that supports embeddings. */
export function providerEmbedder(model: string, { providers, used }: ProviderEmbedderDeps): Embedder {
  return {
    model,
    async embed(texts, signal) {
      const { provider, model: id, key } = await providers.resolve(model, undefined, signal);
      if (!canEmbed(provider)) throw new Error(`${provider.name} does not support embeddings`);
      const parsed = embeddings.safeParse(await provider.embed({ model: id, input: texts }, signal));
      if (!parsed.success) throw new Error(`${provider.name} sent an invalid embeddings response`);
      const { data, usage } = parsed.data;
      used({ provider: provider.id, model: key, usage: readUsage(usage) ?? guessed(texts) });
      // Some servers return the vectors in another order and set `index`.
      const inOrder = data.every(({ index }) => index !== undefined) ? data.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0)) : data;
      return inOrder.map(({ embedding }) => {
        const vector = vectorOf(embedding);
        if (!vector) throw new Error(`${provider.name} sent an invalid embeddings response`);
        return vector;
      });
    },
  };
}

function guessed(texts: readonly string[]): Usage {
  const inputTokens = texts.reduce((sum, text) => sum + estimateTokens(text), 0);
  return { inputTokens, outputTokens: 0, totalTokens: inputTokens, estimated: true };
}
