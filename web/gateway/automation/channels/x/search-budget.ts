import type { SearchBudget } from '../channel-adapter.ts';
import type { XSettings } from '../../../config/sections/channel-settings.ts';

/** Period after a mention in which more are likely. */
export const BUSY_MS = 10 * 60_000;

/** The calendar month, in UTC. */
const toMonth = (now: number): string => new Date(now).toISOString().slice(0, 7);

/** End of the month, in milliseconds since 1970. */
export function getMonthEnd(now: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}

/** The current month's budget. */
export const getBudget = (stored: SearchBudget | undefined, now: number): SearchBudget =>
  stored?.month === toMonth(now) ? stored : { month: toMonth(now), used: 0, lastAt: stored?.lastAt ?? 0 };

/** The budget after one more search. */
export const addSearch = (stored: SearchBudget | undefined, now: number): SearchBudget => {
  const budget = getBudget(stored, now);
  return { ...budget, used: budget.used + 1, lastAt: now };
};

/**
 * Milliseconds between two searches, so that the budget lasts until the month ends; at least `leastMs`. While `busy`, the interval is
 * `leastMs` as long as more than half of the remaining month's share is left. `perMonth`: number of searches per month.
 */
export function computeInterval(
  stored: SearchBudget | undefined,
  now: number,
  { perMonth, leastMs, busy }: { perMonth: number; leastMs: number; busy: boolean },
): number {
  const { used } = getBudget(stored, now);
  const remaining = perMonth - used;
  const remainingMs = getMonthEnd(now) - now;
  if (remaining <= 0) return remainingMs;
  const monthMs = remainingMs + (now - Date.parse(`${toMonth(now)}-01T00:00:00Z`));
  const isEnough = remaining > (perMonth * remainingMs) / monthMs / 2;
  return busy && isEnough ? leastMs : Math.max(leastMs, Math.ceil(remainingMs / remaining));
}

/** The budget for the status: used and limit, when it resets, and the current interval. */
export function toBudgetStatus(
  stored: SearchBudget | undefined,
  settings: Pick<XSettings, 'searchesPerMonth' | 'pollIntervalSeconds'>,
  now: number,
) {
  const limits = { perMonth: settings.searchesPerMonth, leastMs: settings.pollIntervalSeconds * 1000, busy: false };
  return {
    used: getBudget(stored, now).used,
    limit: settings.searchesPerMonth,
    resets_at: getMonthEnd(now),
    interval_seconds: Math.round(computeInterval(stored, now, limits) / 1000),
  };
}
