import { z } from '#shared/rpc/zod.ts';

/** Whether past days are summarised automatically to `memory/<date>.md`. Off by default, because it calls a model unattended. */
export const dailySummariesSettings = z.strictObject({ enabled: z.boolean().default(false) });
