import { z } from '#shared/rpc/zod.ts';

/** Whether the days that are over are summarised by themselves (interface document 2, section 2.5: `memory/<date>.md`). Off, for it asks a model while nobody is there. */
export const dailySummariesSettings = z.strictObject({ enabled: z.boolean().default(false) });
