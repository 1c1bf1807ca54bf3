import { estimateFor } from '#shared/tokens/estimate.ts';
import { familyOf } from '#shared/tokens/family.ts';
import type { CountText } from '../../web/gateway/core/memory/summary/transcript.ts';
import { tokenCounter } from '../../web/gateway/core/tokens/count-tokens.ts';
import type { ModelConfig } from '../../web/library/model.ts';

/** Counts a model's tokens: by an estimate for its family, or exactly once `ready` has loaded its tokenizer, if that is available. */
export function counterOf({ provider, modelId }: Pick<ModelConfig, 'provider' | 'modelId'>): { count: CountText; ready(): Promise<void> } {
  const key = `${provider}/${modelId}`;
  let count: CountText = (text) => estimateFor(text, familyOf(key));
  return {
    count: (text) => count(text),
    async ready() {
      count = await tokenCounter(key);
    },
  };
}
