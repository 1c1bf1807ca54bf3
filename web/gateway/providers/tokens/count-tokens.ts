import { estimateForFamily } from '#shared/tokens/estimate-for-family.ts';
import { getTokenFamily } from '#shared/tokens/token-family.ts';
import { splitSlices } from './split-slices.ts';
import { loadTokenizer } from './tokenizers.ts';
import { yieldIfDue } from './yield-if-due.ts';

const NEVER_ABORTED = new AbortController().signal;
/**
 * Tokens of a text for a model (`<provider>/<model_id>`): counted with OpenAI's tokenizers for its models, estimated by family for others.
 * Long texts are counted in slices, yielding to other tasks in between. Rejects only with the reason of `signal`.
 */
export async function countTokens(text: string, model: string, signal: AbortSignal = NEVER_ABORTED): Promise<number> {
  const family = getTokenFamily(model);
  const count = await loadTokenizer(family);
  if (!count) {
    await yieldIfDue(signal);
    return estimateForFamily(text, family);
  }
  let tokens = 0;
  for (const slice of splitSlices(text)) {
    tokens += count(slice);
    await yieldIfDue(signal);
  }
  return tokens;
}

/** Returns a synchronous token counter for a model, for use in libraries, where no other tasks wait. */
export async function tokenCounter(model: string): Promise<(text: string) => number> {
  const family = getTokenFamily(model);
  const count = await loadTokenizer(family);
  return count ? (text) => [...splitSlices(text)].reduce((sum, slice) => sum + count(slice), 0) : (text) => estimateForFamily(text, family);
}
