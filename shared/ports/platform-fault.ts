import { z } from '../rpc/zod.ts';

/** `details` of the errors of ports that talk to platforms, such as mail and IRC servers. */
export const platformFault = z.object({
  /** Whether certainly nothing was sent. */
  isUnsent: z.boolean(),
  /** Whether trying again is pointless. */
  refused: z.boolean(),
  /** Time to wait before the next attempt, in milliseconds. */
  retryAfterMs: z.number().optional(),
});
