import { goto } from '$app/navigation';
import type { EventPayload } from '#shared/rpc/events.ts';
import { toasts } from '#kit/toasts.svelte.ts';
import { m } from '../i18n/messages.ts';
import { describeGauge, describeScope } from './budget-texts.ts';

/** Tells the person that a budget is almost used up. */
export function showBudgetNotice({ scope, name, gauge }: EventPayload<'budgets.near'>): void {
  toasts.show(m.budgets_near_notice({ name: describeScope(scope, name), amounts: describeGauge(gauge) }), {
    action: { label: m.budgets_show_usage(), run: () => void goto('/usage') },
    sticky: true,
  });
}
