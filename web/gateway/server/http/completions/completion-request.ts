import { z } from '#shared/rpc/zod.ts';

const MAX_PROMPTS = 20;
const tokenId = z.number().int().min(0);

const prompt = z.union(
  [
    z.string(),
    z.array(z.string()).min(1).max(MAX_PROMPTS),
    z.array(tokenId).min(1),
    z.array(z.array(tokenId).min(1)).min(1).max(MAX_PROMPTS),
  ],
  `must be a string, up to ${MAX_PROMPTS} strings, or tokens`,
);

/** `POST /v1/completions`. Other fields go to a server of OpenAI's format unchanged. */
export const completionRequest = z.looseObject({
  model: z.string().min(1).max(300),
  prompt,
  suffix: z.string().nullish(),
  max_tokens: z.number().int().min(0).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  n: z.number().int().min(1).max(128).nullish(),
  best_of: z.number().int().min(1).max(20).nullish(),
  echo: z.boolean().nullish(),
  logprobs: z.number().int().min(0).max(5).nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(4)]).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  seed: z.number().int().nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  user: z.string().max(1000).nullish(),
});
export type CompletionRequest = z.output<typeof completionRequest>;
