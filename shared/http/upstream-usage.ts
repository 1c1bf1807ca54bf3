import type { Usage } from '../rpc/record-schemas.ts';
import { z } from '../rpc/zod.ts';

/** The `usage` object of a completion, as the vendors write it. */
export const upstreamUsage = z.object({
  prompt_tokens: z.number().nullish(),
  completion_tokens: z.number().nullish(),
  total_tokens: z.number().nullish(),
  prompt_tokens_details: z.object({ cached_tokens: z.number().nullish(), cache_write_tokens: z.number().nullish() }).nullish(),
  completion_tokens_details: z.object({ reasoning_tokens: z.number().nullish() }).nullish().catch(null),
  /** DeepSeek's name for the cached ones. */
  prompt_cache_hit_tokens: z.number().nullish().catch(null),
  /** Moonshot's name for them. */
  cached_tokens: z.number().nullish().catch(null),
  /** Tokens written to the cache, as proxies of Anthropic's models name them. */
  cache_creation_input_tokens: z.number().nullish().catch(null),
  /** USD, if the provider bills by the call. */
  cost: z.number().nullish().catch(null),
});

/** llama.cpp's figures outside the usage object: the cached tokens, which older releases report only there. */
const timings = z.object({ cache_n: z.number() });

/** No answer has more tokens, or costs more. */
const MAX_TOKENS = 1_000_000_000;
const MAX_COST = 1_000_000;

/** Parses a token count; 0 if it is out of range. */
export const toTokenCount = (value: number | null | undefined): number => Math.min(MAX_TOKENS, Math.max(0, Math.round(value ?? 0)));

/** Converts the `usage` object of a completion, and its `timings`, to our usage; undefined if it has no figures. */
export function readUsage(value: unknown, rawTimings?: unknown): Usage | undefined {
  const parsed = upstreamUsage.safeParse(value);
  if (!parsed.success || (parsed.data.prompt_tokens == null && parsed.data.completion_tokens == null)) return undefined;
  const { prompt_tokens, completion_tokens, total_tokens, prompt_tokens_details: details, completion_tokens_details, cost } = parsed.data;
  const inputTokens = toTokenCount(prompt_tokens);
  const completion = toTokenCount(completion_tokens);
  const reasoning = toTokenCount(completion_tokens_details?.reasoning_tokens);
  // xAI counts reasoning in addition to the completion; other providers include it.
  const outputTokens =
    reasoning > 0 && toTokenCount(total_tokens) === inputTokens + completion + reasoning ? completion + reasoning : completion;
  const { prompt_cache_hit_tokens, cached_tokens, cache_creation_input_tokens } = parsed.data;
  const cacheReads = details?.cached_tokens ?? prompt_cache_hit_tokens ?? cached_tokens ?? timings.safeParse(rawTimings).data?.cache_n;
  const cacheWrites = toTokenCount(details?.cache_write_tokens ?? cache_creation_input_tokens);
  return {
    inputTokens,
    outputTokens,
    totalTokens: Math.max(inputTokens + outputTokens, toTokenCount(total_tokens)),
    ...(cacheReads == null ? {} : { cacheReadTokens: toTokenCount(cacheReads) }),
    ...(cacheWrites > 0 ? { cacheWriteTokens: cacheWrites } : {}),
    ...(cost == null || !(cost >= 0 && cost <= MAX_COST) ? {} : { cost }),
  };
}
