import { z } from './zod.ts';

/** Thinking levels. Each provider gets its own nearest value. */
export const thinkingLevel = z.enum(['off', 'low', 'medium', 'high', 'max']);
export type ThinkingLevel = z.infer<typeof thinkingLevel>;

export const temperature = z.number().min(0).max(2);

/** Parameters that agents have too, where `systemPrompt` takes the place of `instructions`. */
export const agentParameters = {
  /** How much the model thinks before it answers. Ignored by models that do not think. */
  thinking: thinkingLevel.optional(),
  temperature: temperature.optional(),
  topP: z.number().min(0).max(1).optional(),
  /** Maximum length of each answer in tokens. */
  maxTokens: z.number().int().min(1).max(10_000_000).optional(),
  seed: z.number().int().optional(),
  /** Texts at which the model stops. */
  stop: z.array(z.string().min(1).max(200)).max(4).optional(),
  verbosity: z.enum(['low', 'medium', 'high']).optional(),
  /** JSON mode: answers are one JSON object. */
  json: z.boolean().optional(),
};

/** How a model answers. What is left out is inherited: from the job or channel, then from the agent, then from the model. */
export const modelParameters = z.strictObject({
  ...agentParameters,
  /** Added to the agent's instructions. */
  instructions: z.string().max(20_000).optional(),
});
export type ModelParameters = z.infer<typeof modelParameters>;

/** The valid parameters of a value that another build may have stored; undefined if there are none. */
export function readModelParameters(value: unknown): ModelParameters | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const valid = Object.entries(value).filter(
    ([name, parameter]) => parameter !== undefined && modelParameters.safeParse({ [name]: parameter }).success,
  );
  return valid.length > 0 ? modelParameters.parse(Object.fromEntries(valid)) : undefined;
}
