import type { MethodResult } from '#shared/rpc/methods/index.ts';

export type UsageTotals = MethodResult<'usage.get'>;
type UsageDay = MethodResult<'usage.daily'>['dailyBreakdown'][number];
/** Calls, their tokens, and their cost in USD. */
export type UsageSums = UsageTotals['byModel'][string];

/** The gateway's usage report for a number of days. */
export interface UsageReport {
  totals: UsageTotals;
  /** Oldest first, without gaps. */
  days: readonly UsageDay[];
  /** Calls in each hour of the day. */
  hours: readonly number[];
}
