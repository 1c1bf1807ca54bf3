import type { Plan } from '#shared/rpc/methods/plan.ts';
import { isLost, type Problem, problemOf } from '#lib/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { m } from '#lib/i18n/pages.ts';
import { announcer } from './announcer.svelte.ts';
import { toasts } from './toasts.svelte.ts';

/** Plans of agents, step by step. */
class Plans {
  /** Last changed first; null before the first answer. */
  list = $state.raw<Plan[] | null>(null);
  problem = $state<Problem | null>(null);
  #asked = 0;

  /** Reads them, now and at each change; the result stops it. */
  show(): () => void {
    void this.load();
    return gateway.on('plan.changed', () => void this.load());
  }

  async load(): Promise<void> {
    const asked = ++this.#asked;
    try {
      const { plans } = await gateway.call('plan.list', {});
      if (asked !== this.#asked) return;
      this.list = plans;
      this.problem = null;
    } catch (error) {
      if (asked === this.#asked && !isLost(error)) this.problem = problemOf(error, m.plans_doing_read());
    }
  }

  /** Rejects where the gateway refuses, or with why the plan stays as it is. */
  async resume({ id, goal }: Plan): Promise<void> {
    const { resumed, reason } = await gateway.call('plan.resume', { planId: id });
    if (!resumed) throw new Error(reason ?? m.plans_not_paused());
    announcer.say(m.plans_goes_on({ goal }));
  }

  /** Rejects where the gateway refuses. */
  async remove({ id }: Plan): Promise<void> {
    await gateway.call('plan.delete', { planId: id });
    announcer.say(m.plans_deleted());
    toasts.show(m.plans_deleted());
    await this.load();
  }
}

export const plans = new Plans();
