import type { BudgetGauge } from '#shared/rpc/methods/budget-contracts.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';

const PERIOD_NAMES = { day: 'daily', month: 'monthly' } as const;

/** A budget in words: "The daily budget of this chat". */
export function describeBudget(scope: string, name: string | null, period: BudgetGauge['period']): string {
  const [kind = '', id = ''] = scope.split(':', 2);
  const shown = name ?? id;
  const owners: Readonly<Record<string, string>> = {
    chat: ' of this chat',
    key: ` of the API key “${shown}”`,
    job: ` of the schedule “${shown}”`,
    channel: ` of the channel “${shown}”`,
    agent: ` of the agent “${shown}”`,
  };
  return `The ${PERIOD_NAMES[period]} budget${owners[kind] ?? ''}`;
}

export const formatAmount = (amount: number, measure: BudgetGauge['measure']): string =>
  measure === 'cost'
    ? amount.toLocaleString('en-US', { style: 'currency', currency: 'USD', minimumFractionDigits: 2, maximumFractionDigits: 4 })
    : amount.toLocaleString('en-US');

/** Error of a reply that a budget has stopped. `/v1` returns it as `insufficient_quota`. */
export function createBudgetError(scope: string, name: string | null, gauge: BudgetGauge, timeZone: string): RpcError {
  const { period, measure, limit, used, resetsAt } = gauge;
  const amounts = `${formatAmount(used, measure)} of ${formatAmount(limit, measure)}${measure === 'tokens' ? ' tokens' : ''}`;
  const reset = new Date(resetsAt).toLocaleString('en-GB', { timeZone, day: 'numeric', month: 'long', hour: '2-digit', minute: '2-digit' });
  return new RpcError(
    'RATE_LIMITED',
    `${describeBudget(scope, name, period)} is used up: ${amounts}. It resets on ${reset}. Raise the budget, or continue anyway for today.`,
    { details: { limit: 'budget', budget: { scope, period } } },
  );
}
