import { z } from '#shared/rpc/zod.ts';
import { completionAnnotation } from './item-shapes.ts';
import { count, unixTime } from './number-shapes.ts';

/** Fields of a message and of a delta: Perch's own for the model's reasoning, and the sources of agents. */
const extension = { reasoning_content: z.string().optional(), annotations: z.array(completionAnnotation).min(1).optional() };

const tokenLogprob = z.strictObject({ token: z.string(), logprob: z.number(), bytes: z.array(count).nullable() });
const tokenLogprobs = z.array(tokenLogprob.extend({ top_logprobs: z.array(tokenLogprob) })).nullable();
const logprobs = z.strictObject({ content: tokenLogprobs, refusal: tokenLogprobs }).nullable();

const finishReason = z.enum(['stop', 'length', 'tool_calls', 'content_filter', 'function_call']);
const serviceTier = z.enum(['auto', 'default', 'flex', 'scale', 'priority', 'fast']).nullable();

const usage = z.strictObject({
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  prompt_tokens_details: z
    .strictObject({ cached_tokens: count, cache_write_tokens: count, audio_tokens: count, image_tokens: count, text_tokens: count })
    .partial()
    .optional(),
  completion_tokens_details: z
    .strictObject({
      ...{ reasoning_tokens: count, audio_tokens: count, text_tokens: count },
      ...{ accepted_prediction_tokens: count, rejected_prediction_tokens: count },
    })
    .partial()
    .optional(),
});

const functionCallShape = z.strictObject({ name: z.string().min(1), arguments: z.string() });
const toolCall = z.discriminatedUnion('type', [
  z.strictObject({ id: z.string().min(1), type: z.literal('function'), function: functionCallShape }),
  z.strictObject({ id: z.string().min(1), type: z.literal('custom'), custom: z.strictObject({ name: z.string(), input: z.string() }) }),
]);

const message = z.strictObject({
  role: z.literal('assistant'),
  content: z.string().nullable(),
  refusal: z.string().nullable(),
  tool_calls: z.array(toolCall).min(1).optional(),
  ...extension,
});

/** Fields common to a completion and its chunks. */
const head = {
  id: z.string().min(1),
  created: unixTime,
  model: z.string().min(1),
  service_tier: serviceTier.optional(),
  system_fingerprint: z.string().optional(),
};

/** `POST /v1/chat/completions`. */
export const completion = z.strictObject({
  ...head,
  object: z.literal('chat.completion'),
  choices: z.array(z.strictObject({ index: count, message, logprobs, finish_reason: finishReason })).min(1),
  usage: usage.optional(),
});

const delta = z.strictObject({
  role: z.enum(['developer', 'system', 'user', 'assistant', 'tool']).optional(),
  content: z.string().nullish(),
  refusal: z.string().nullish(),
  tool_calls: z
    .array(
      z.strictObject({
        index: count,
        id: z.string().min(1).optional(),
        type: z.enum(['function', 'custom']).optional(),
        function: functionCallShape.partial().optional(),
      }),
    )
    .optional(),
  ...extension,
});

/** An event of a stream of `POST /v1/chat/completions`. */
export const completionChunk = z.strictObject({
  ...head,
  object: z.literal('chat.completion.chunk'),
  choices: z.array(z.strictObject({ index: count, delta, logprobs: logprobs.optional(), finish_reason: finishReason.nullable() })),
  usage: usage.nullish(),
});
