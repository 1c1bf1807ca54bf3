import type { Plan } from '#shared/rpc/methods/plan-contracts.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { announcer } from '#app/state/announcer.svelte.ts';
import { toasts } from '#kit/toasts.svelte.ts';

/** Plans of agents, step by step. */
class Plans {
  /** Last changed first; null before the first answer. */
  list = $state.raw<Plan[] | null>(null);
  problem = $state<Problem | null>(null);
  #loadCount = 0;

  /** Loads the plans, now and at each change. Returns a function that stops it. */
  watch(): () => void {
    void this.load();
    return gateway.on('plan.changed', () => void this.load());
  }

  async load(): Promise<void> {
    const loadId = ++this.#loadCount;
    try {
      const { plans } = await gateway.call('plan.list', {});
      if (loadId !== this.#loadCount) return;
      this.list = plans;
      this.problem = null;
    } catch (error) {
      if (loadId === this.#loadCount && !isConnectionLost(error)) this.problem = toProblem(error, m.plans_doing_read());
    }
  }

  /** Resumes a paused plan. Rejects if the gateway refuses, or with the reason why the plan stays paused. */
  async resume({ id, goal }: Plan): Promise<void> {
    const { resumed, reason } = await gateway.call('plan.resume', { planId: id });
    if (!resumed) throw new Error(reason ?? m.plans_not_paused());
    announcer.announce(m.plans_goes_on({ goal }));
  }

  /** Rejects if the gateway refuses. */
  async remove({ id }: Plan): Promise<void> {
    await gateway.call('plan.delete', { planId: id });
    announcer.announce(m.plans_deleted());
    toasts.show(m.plans_deleted());
    await this.load();
  }
}

export const plans = new Plans();
