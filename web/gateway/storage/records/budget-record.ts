import type { BudgetLimits } from '#shared/rpc/methods/budget-contracts.ts';
import type { BudgetPeriod } from '#shared/rpc/budget-period.ts';

/** A budget, as it is stored. */
export interface BudgetRecord {
  /** Its scope, such as `vault` or `agent:main`. */
  id: string;
  limits: BudgetLimits;
  /** By period, the date on which a person continued anyway. */
  continued?: { [Period in BudgetPeriod]?: string };
  /** By period, the start date of the last one in which people were told that 80 % are used. */
  warned?: { [Period in BudgetPeriod]?: string };
}
