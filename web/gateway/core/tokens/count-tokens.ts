import { estimateFor } from '#shared/tokens/estimate.ts';
import { familyOf } from '#shared/tokens/family.ts';
import { slices } from './slices.ts';
import { tokenizerOf } from './tokenizers.ts';
import { letOthers } from './turn.ts';

const NEVER = new AbortController().signal;
/**
 * Tokens of a text for a model (`<provider>/<model_id>`): counted with OpenAI's tokenizers for its models, estimated by family for others.
 * Long texts are counted in slices, yielding to other tasks in between. Rejects only with the reason of `signal`.
 */
export async function countTokens(text: string, model: string, signal: AbortSignal = NEVER): Promise<number> {
  const family = familyOf(model);
  const count = await tokenizerOf(family);
  if (!count) {
    await letOthers(signal);
    return estimateFor(text, family);
  }
  let tokens = 0;
  for (const slice of slices(text)) {
    tokens += count(slice);
    await letOthers(signal);
  }
  return tokens;
}

/** Returns a synchronous token counter for a model, for use in libraries, where no other tasks wait. */
export async function tokenCounter(model: string): Promise<(text: string) => number> {
  const family = familyOf(model);
  const count = await tokenizerOf(family);
  return count ? (text) => [...slices(text)].reduce((sum, slice) => sum + count(slice), 0) : (text) => estimateFor(text, family);
}
