import type { Budget } from '../adapter.ts';
import type { XSettings } from '../settings.ts';

/** After a mention the next ones are likely. */
export const BUSY_MS = 10 * 60_000;

/** The calendar month, in UTC. */
const monthOf = (now: number): string => new Date(now).toISOString().slice(0, 7);

/** When the month ends, in milliseconds since 1970. */
export function monthEnd(now: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}

/** What was used of this month's searches. */
export const budgetAt = (kept: Budget | undefined, now: number): Budget =>
  kept?.month === monthOf(now) ? kept : { month: monthOf(now), used: 0, lastAt: kept?.lastAt ?? 0 };

/** With one search more. */
export const spent = (kept: Budget | undefined, now: number): Budget => {
  const budget = budgetAt(kept, now);
  return { ...budget, used: budget.used + 1, lastAt: now };
};

/**
 * Milliseconds between two searches, so that they last until the month ends: never less than is set. While there is something going on they come as is set,
 * as long as more than half of what is due for the rest of the month is left. `perMonth`: how many a month has.
 */
export function intervalOf(
  kept: Budget | undefined,
  now: number,
  { perMonth, leastMs, busy }: { perMonth: number; leastMs: number; busy: boolean },
): number {
  const { used } = budgetAt(kept, now);
  const left = perMonth - used;
  const rest = monthEnd(now) - now;
  if (left <= 0) return rest;
  const monthMs = rest + (now - Date.parse(`${monthOf(now)}-01T00:00:00Z`));
  const isEnough = left > (perMonth * rest) / monthMs / 2;
  return busy && isEnough ? leastMs : Math.max(leastMs, Math.ceil(rest / left));
}

/** What the status tells of the budget: used and left, when it begins anew, and how often mentions are looked for. */
export function shownBudget(kept: Budget | undefined, settings: Pick<XSettings, 'searchesPerMonth' | 'pollIntervalSeconds'>, now: number) {
  const limits = { perMonth: settings.searchesPerMonth, leastMs: settings.pollIntervalSeconds * 1000, busy: false };
  return {
    used: budgetAt(kept, now).used,
    limit: settings.searchesPerMonth,
    resets_at: monthEnd(now),
    interval_seconds: Math.round(intervalOf(kept, now, limits) / 1000),
  };
}
