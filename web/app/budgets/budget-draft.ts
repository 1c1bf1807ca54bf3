import type { BudgetLimits, BudgetMeasure } from '#shared/rpc/methods/budget-contracts.ts';
import type { BudgetPeriod } from '#shared/rpc/budget-period.ts';

/** Form values of a budget; null for no limit. */
export type BudgetDraft = Record<BudgetPeriod, Record<BudgetMeasure, number | null>>;

export const toBudgetDraft = ({ day, month }: BudgetLimits = {}): BudgetDraft => ({
  day: { cost: day?.cost ?? null, tokens: day?.tokens ?? null },
  month: { cost: month?.cost ?? null, tokens: month?.tokens ?? null },
});

/** The limits that are set; null if there are none. */
export function toBudgetLimits({ day, month }: BudgetDraft): BudgetLimits | null {
  const limits = Object.entries({ day, month }).flatMap(([period, amounts]) => {
    // An empty field has the value null or undefined.
    const set = Object.entries(amounts).filter(([, amount]) => typeof amount === 'number');
    return set.length > 0 ? [[period, Object.fromEntries(set)]] : [];
  });
  return limits.length > 0 ? Object.fromEntries(limits) : null;
}
