import { defineMethod } from '../contract.ts';
import { z } from '../zod.ts';

const daysWindow = z.strictObject({ days: z.number().int().min(1).max(365).default(7) });
const count = z.number().int().nonnegative();
/** Input tokens that were read from and written to the providers' caches. Missing if no call reported them. */
const cacheFigures = { cacheReadTokens: count.optional(), cacheWriteTokens: count.optional() };
/** Number of calls whose provider reported no usage, so that their tokens are estimates. Missing if there are none. */
const estimateFigures = { estimatedCalls: count.optional() };
/** Number of calls, their tokens, and their cost in USD. */
const usageSums = {
  calls: count,
  inputTokens: count,
  outputTokens: count,
  totalTokens: count,
  ...cacheFigures,
  ...estimateFigures,
  cost: z.number().nonnegative(),
};

/**
 * Purposes of model calls. Titles, summaries, memory extraction and embeddings are small work that Perch does beside chats; `sampling` is for MCP servers. Calls
 * recorded before there were purposes count as `chat`.
 */
export type UsagePurpose = 'chat' | 'title' | 'summary' | 'memory' | 'embedding' | 'dreaming' | 'sampling';

/** Usage and cost of model calls. */
export const usageContracts = {
  'usage.get': defineMethod({
    params: daysWindow,
    result: z.object({
      windowDays: count,
      /** Number of sessions with calls. */
      sessions: count,
      calls: count,
      totalTokens: count,
      inputTokens: count,
      outputTokens: count,
      ...cacheFigures,
      ...estimateFigures,
      /** USD. */
      estimatedCost: z.number().nonnegative(),
      byProvider: z.record(z.string(), z.object(usageSums)),
      byModel: z.record(z.string(), z.object(usageSums)),
      /** Usage of API keys, by their IDs. */
      byKey: z.record(z.string(), z.object(usageSums)),
      /** By what the calls were for, such as `chat`, `title` or `summary`. */
      byPurpose: z.record(z.string(), z.object(usageSums)),
    }),
    docs: 'Returns the usage and cost of the last `days` days, including today: in total and by provider, model, API key and purpose.',
    policy: { scope: 'read' },
  }),
  'usage.daily': defineMethod({
    params: daysWindow,
    result: z.object({ dailyBreakdown: z.array(z.object({ date: z.iso.date(), ...usageSums })) }),
    docs: 'Returns the usage of each of the last `days` days in the configured time zone, oldest first. Days without usage are included.',
    policy: { scope: 'read' },
  }),
  'usage.hourly': defineMethod({
    params: daysWindow,
    result: z.object({ hourlyDistribution: z.array(count).length(24) }),
    docs: 'Returns the number of calls in each hour of the day over the last `days` days, in the configured time zone.',
    policy: { scope: 'read' },
  }),
};
