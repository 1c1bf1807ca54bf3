import { defineMethod } from '../rpc/contract.ts';
import { z } from '../rpc/zod.ts';
import { definePort } from './port.ts';

/** Body of a request to `PUSH_ANSWER_PATH`: the value of the button that was pressed (`DecisionTokens`). */
export const pushAnswer = z.strictObject({ value: z.string().min(1).max(64) });

export const pushPort = definePort({
  kind: 'push',
  featureName: 'Push notifications',
  calls: {
    'push.deliver': defineMethod({
      params: z.object({
        /** Address that the browser got from its push service. */
        endpoint: z.string().max(2048),
        /** Headers of RFC 8030 and RFC 8292. */
        headers: z.strictObject({
          ttl: z.string().regex(/^\d{1,9}$/),
          urgency: z.enum(['very-low', 'low', 'normal', 'high']),
          topic: z
            .string()
            .regex(/^[\w-]{1,32}$/)
            .optional(),
          authorization: z.string().max(2000),
        }),
        /** The encrypted message (RFC 8291), in base64. */
        body: z.string().max(6000),
      }),
      result: z.object({
        status: z.number().int(),
        /** Start of the response, or of the error if there was no response; then `status` is 0. */
        reason: z.string(),
        /** Whether the push service has certainly not received the message. */
        isUnsent: z.boolean(),
        retryAfterMs: z.number().optional(),
      }),
      docs: 'Sends an encrypted message to a push service. Only public https addresses are allowed.',
      policy: { scope: 'write' },
    }),
  },
  events: {},
});
