import { z } from './zod.ts';

/** Periods of a budget, in the configured time zone. */
export const BUDGET_PERIODS = ['day', 'month'] as const;
export const budgetPeriod = z.enum(BUDGET_PERIODS);
export type BudgetPeriod = z.infer<typeof budgetPeriod>;
