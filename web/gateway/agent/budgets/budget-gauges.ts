import { createLocalTime, findDateStart } from '#shared/local-time.ts';
import { BUDGET_MEASURES, type BudgetGauge, type BudgetLimits, type PeriodUsage } from '#shared/rpc/methods/budget-contracts.ts';
import { BUDGET_PERIODS, type BudgetPeriod } from '#shared/rpc/budget-period.ts';
import type { BudgetRecord } from '../../storage/records/budget-record.ts';
import type { ScopeUsage, UsageSum } from './usage-totals.ts';

const HOUR_MS = 60 * 60_000;
/** Share of a limit from which people are warned. */
const NEAR_SHARE = 0.8;
/** Time that must have passed in a period before it is forecast. */
const MIN_ELAPSED_MS: Record<BudgetPeriod, number> = { day: 6 * HOUR_MS, month: 3 * 24 * HOUR_MS };

/** Tokens and cost of calls. */
export interface Spending {
  cost: number;
  tokens: number;
}

/** The current day and month. */
interface BudgetPeriods {
  /** Today's date. */
  date: string;
  /** First date of each period. */
  firstDates: Record<BudgetPeriod, string>;
  starts: Record<BudgetPeriod, number>;
  ends: Record<BudgetPeriod, number>;
}

/** The day and month at a time in a time zone. */
export function computePeriods(now: number, timeZone: string): BudgetPeriods {
  const toLocalTime = createLocalTime(timeZone);
  const { date } = toLocalTime(now);
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number);
  const toDate = (...[years, months, days]: [number, number, number]): string =>
    new Date(Date.UTC(years, months - 1, days)).toISOString().slice(0, 10);
  const firstDates = { day: date, month: toDate(year, month, 1) };
  const find = (first: string): number => findDateStart(first, toLocalTime);
  return {
    date,
    firstDates,
    starts: { day: find(firstDates.day), month: find(firstDates.month) },
    ends: { day: find(toDate(year, month, day + 1)), month: find(toDate(year, month + 1, 1)) },
  };
}

/** How much of each limit is used. `running`: usage of a run that is not recorded yet. */
export function computeGauges(
  { limits, continued }: Pick<BudgetRecord, 'limits' | 'continued'>,
  usage: ScopeUsage,
  { date, ends }: BudgetPeriods,
  running: Spending = { cost: 0, tokens: 0 },
): BudgetGauge[] {
  return BUDGET_PERIODS.flatMap((period) =>
    BUDGET_MEASURES.flatMap((measure): BudgetGauge[] => {
      const limit = limits[period]?.[measure];
      if (limit === undefined) return [];
      const used = (measure === 'cost' ? usage[period].cost : usage[period].totalTokens) + running[measure];
      const isContinued = continued?.[period] === date;
      const state = used >= limit ? (isContinued ? 'continued' : 'reached') : used >= limit * NEAR_SHARE ? 'near' : 'ok';
      return [{ period, measure, limit, used, state, resetsAt: ends[period] }];
    }),
  );
}

/** Usage of a period, and what to expect at its end if the mean pace so far continues. */
export function forecastUsage(sum: UsageSum, period: BudgetPeriod, { starts, ends }: BudgetPeriods, now: number): PeriodUsage {
  const [startedAt, resetsAt] = [starts[period], ends[period]];
  const factor = (resetsAt - startedAt) / (now - startedAt);
  const hasEnough = sum.calls > 0 && now - startedAt >= MIN_ELAPSED_MS[period];
  return {
    cost: sum.cost,
    tokens: sum.totalTokens,
    unpricedCalls: sum.unpricedCalls,
    startedAt,
    resetsAt,
    forecast: hasEnough ? { cost: sum.cost * factor, tokens: Math.round(sum.totalTokens * factor) } : null,
  };
}

/** Removes empty periods. */
export function cleanLimits(limits: BudgetLimits): BudgetLimits {
  return Object.fromEntries(
    BUDGET_PERIODS.flatMap((period) => {
      const amounts = Object.entries(limits[period] ?? {}).filter(([, amount]) => amount !== undefined);
      return amounts.length > 0 ? [[period, Object.fromEntries(amounts)]] : [];
    }),
  );
}

export const hasLimits = (limits: BudgetLimits): boolean => Object.keys(cleanLimits(limits)).length > 0;
