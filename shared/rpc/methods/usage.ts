import { call } from '../contract.ts';
import { z } from '../zod.ts';

const window = z.strictObject({ days: z.number().int().min(1).max(365).default(7) });
const count = z.number().int().nonnegative();
/** Calls, their tokens, and what they cost in USD. */
const sums = { calls: count, inputTokens: count, outputTokens: count, totalTokens: count, cost: z.number().nonnegative() };

/** What calls took and cost, whoever made them (interface document 1, sections 2.2 and 4.1; decisions, "Devices, logs, system, usage …"). */
export const usage = {
  'usage.get': call({
    params: window,
    result: z.object({
      windowDays: count,
      /** Sessions that had calls. */
      sessions: count,
      calls: count,
      totalTokens: count,
      inputTokens: count,
      outputTokens: count,
      /** USD. */
      estimatedCost: z.number().nonnegative(),
      byProvider: z.record(z.string(), z.object(sums)),
      byModel: z.record(z.string(), z.object(sums)),
      /** Of programs' keys, by their ids. */
      byKey: z.record(z.string(), z.object(sums)),
    }),
    docs: 'Usage and cost of the last days, today included, in all and by provider, model and key.',
    policy: { scope: 'read' },
  }),
  'usage.daily': call({
    params: window,
    result: z.object({ dailyBreakdown: z.array(z.object({ date: z.iso.date(), ...sums })) }),
    docs: 'Usage of each of the last days, oldest first, days without any included. Days are those of the configured time zone.',
    policy: { scope: 'read' },
  }),
  'usage.hourly': call({
    params: window,
    result: z.object({ hourlyDistribution: z.array(count).length(24) }),
    docs: 'How many calls fell into each hour of the day, over the last days, by the configured time zone.',
    policy: { scope: 'read' },
  }),
};
