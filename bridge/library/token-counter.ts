import { estimateForFamily } from '#shared/tokens/estimate-for-family.ts';
import { getTokenFamily } from '#shared/tokens/token-family.ts';
import type { CountText } from '../../web/gateway/knowledge/memory/summary/transcript.ts';
import { tokenCounter } from '../../web/gateway/providers/tokens/count-tokens.ts';
import type { ModelConfig } from '../../web/library/model-config.ts';

/** Counts a model's tokens: by an estimate for its family, or exactly once `ready` has loaded its tokenizer, if that is available. */
export function createTokenCounter({ provider, modelId }: Pick<ModelConfig, 'provider' | 'modelId'>): {
  count: CountText;
  ready(): Promise<void>;
} {
  const key = `${provider}/${modelId}`;
  let count: CountText = (text) => estimateForFamily(text, getTokenFamily(key));
  return {
    count: (text) => count(text),
    async ready() {
      count = await tokenCounter(key);
    },
  };
}
