import type { Usage } from '../rpc/records.ts';
import { z } from '../rpc/zod.ts';

/** The `usage` object of a completion, as the vendors write it. */
export const upstreamUsage = z.object({
  prompt_tokens: z.number().nullish(),
  completion_tokens: z.number().nullish(),
  total_tokens: z.number().nullish(),
  prompt_tokens_details: z.object({ cached_tokens: z.number().nullish() }).nullish(),
  completion_tokens_details: z.object({ reasoning_tokens: z.number().nullish() }).nullish().catch(null),
  /** DeepSeek's name for the cached ones. */
  prompt_cache_hit_tokens: z.number().nullish().catch(null),
  /** USD, where the provider bills by the call. */
  cost: z.number().nullish().catch(null),
});

/** No answer has more tokens, or costs more. */
const MOST_TOKENS = 1_000_000_000;
const MOST_COST = 1_000_000;

/** A figure of tokens, within what can be. */
export const count = (value: number | null | undefined): number => Math.min(MOST_TOKENS, Math.max(0, Math.round(value ?? 0)));

/** Our usage from the `usage` object of a completion; undefined where it has none. */
export function readUsage(value: unknown): Usage | undefined {
  const parsed = upstreamUsage.safeParse(value);
  if (!parsed.success || (parsed.data.prompt_tokens == null && parsed.data.completion_tokens == null)) return undefined;
  const { prompt_tokens, completion_tokens, total_tokens, prompt_tokens_details, completion_tokens_details, cost } = parsed.data;
  const inputTokens = count(prompt_tokens);
  const completion = count(completion_tokens);
  const thought = count(completion_tokens_details?.reasoning_tokens);
  // xAI counts the thoughts beside the completion, the others within it.
  const outputTokens = thought > 0 && count(total_tokens) === inputTokens + completion + thought ? completion + thought : completion;
  const cached = prompt_tokens_details?.cached_tokens ?? parsed.data.prompt_cache_hit_tokens;
  return {
    inputTokens,
    outputTokens,
    totalTokens: Math.max(inputTokens + outputTokens, count(total_tokens)),
    ...(cached ? { cacheReadTokens: count(cached) } : {}),
    ...(cost == null || !(cost >= 0 && cost <= MOST_COST) ? {} : { cost }),
  };
}
