import { createListSchema, z } from '../rpc/zod.ts';

/** Schema that every completions request must match, whichever model it is for. Other fields are passed on or read below. */
export const envelope = z.looseObject({
  model: z.string().min(1).max(300),
  messages: createListSchema(z.looseObject({ role: z.string() }), 1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.number().int().min(1).max(128).nullish(),
});
export type Envelope = z.infer<typeof envelope>;
