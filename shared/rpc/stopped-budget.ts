import type { BudgetPeriod } from './budget-period.ts';

/** The budget that has stopped a reply. */
export interface StoppedBudget {
  scope: string;
  period: BudgetPeriod;
}

/** The budget in the details of an error; undefined if it has another reason. */
export function readStoppedBudget(details: Readonly<Record<string, unknown>> = {}): StoppedBudget | undefined {
  const { budget } = details;
  if (typeof budget !== 'object' || budget === null || !('scope' in budget) || !('period' in budget)) return undefined;
  const { scope, period } = budget;
  return typeof scope === 'string' && (period === 'day' || period === 'month') ? { scope, period } : undefined;
}
