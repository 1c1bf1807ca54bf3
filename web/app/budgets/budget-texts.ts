import type { BudgetGauge } from '#shared/rpc/methods/budget-contracts.ts';
import { formatDateTime } from '../i18n/format.ts';
import { formatMoney } from '../i18n/format-money.ts';
import { m } from '../i18n/messages.ts';
import { formatInteger } from '../i18n/usage-format.ts';

/** Label of a budget's scope. */
export function describeScope(scope: string, name: string | null): string {
  const [kind = '', id = ''] = scope.split(':', 2);
  const shown = { name: name ?? id };
  switch (kind) {
    case 'agent':
      return m.budgets_of_agent(shown);
    case 'job':
      return m.budgets_of_job(shown);
    case 'channel':
      return m.budgets_of_channel(shown);
    case 'key':
      return m.budgets_of_key(shown);
    case 'chat':
      return name === null ? m.budgets_of_this_chat() : m.budgets_of_chat(shown);
    default:
      return m.budgets_of_vault();
  }
}

/** How much of a limit is used: `$4.20 of $5.00 today`. */
export function describeGauge({ period, measure, used, limit }: BudgetGauge): string {
  const format = measure === 'cost' ? formatMoney : formatInteger;
  const amounts = { used: format(used), limit: format(limit) };
  if (measure === 'cost') return period === 'day' ? m.budgets_cost_today(amounts) : m.budgets_cost_this_month(amounts);
  return period === 'day' ? m.budgets_tokens_today(amounts) : m.budgets_tokens_this_month(amounts);
}

/** When a limit starts again: a date, with the time if it is no midnight here because the gateway has another time zone. */
export function describeReset({ resetsAt }: Pick<BudgetGauge, 'resetsAt'>): string {
  const at = new Date(resetsAt);
  const time = at.getHours() + at.getMinutes() > 0 ? ({ hour: 'numeric', minute: '2-digit' } as const) : {};
  return m.budgets_resets({ when: formatDateTime(at, { day: 'numeric', month: 'short', ...time }) });
}
