import { estimateFor } from '#shared/tokens/estimate.ts';
import { familyOf } from '#shared/tokens/family.ts';
import type { CountText } from '../../web/gateway/core/memory/summary/transcript.ts';
import { tokenCounter } from '../../web/gateway/core/tokens/count-tokens.ts';
import type { ModelConfig } from '../../web/library/model.ts';

/** Counts tokens as a model does: by an estimate of its family, and once `ready` has resolved with its tokenizer, where that is here. */
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
