import { z } from '#shared/rpc/zod.ts';

const count = z.number().int().min(0);

/** `POST /v1/completions`, whole or as a chunk. */
export const textCompletion = z.looseObject({
  id: z.string(),
  object: z.literal('text_completion'),
  created: z.number().int(),
  model: z.string(),
  choices: z.array(
    z.looseObject({
      text: z.string(),
      index: count,
      logprobs: z.unknown(),
      finish_reason: z.enum(['stop', 'length', 'content_filter']).nullable(),
    }),
  ),
  usage: z.looseObject({ prompt_tokens: count, completion_tokens: count, total_tokens: count }).nullish(),
});

/** `POST /v1/audio/transcriptions` and `/translations` as JSON. */
export const transcript = z.looseObject({ text: z.string() });

/** `POST /v1/images/generations` and `/edits`. */
export const imageList = z.looseObject({
  created: z.number().int(),
  data: z.array(z.looseObject({ b64_json: z.string().optional(), url: z.string().optional() })),
});
