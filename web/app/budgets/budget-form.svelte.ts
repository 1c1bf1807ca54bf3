import type { BudgetGauge } from '#shared/rpc/methods/budget-contracts.ts';
import { type Problem, toProblem } from '#kit/problems.ts';
import { m } from '../i18n/messages.ts';
import { type BudgetDraft, toBudgetDraft, toBudgetLimits } from './budget-draft.ts';
import { budgets } from './budgets.svelte.ts';

/** The budget of one scope, as a part of its form. */
export class BudgetForm {
  readonly #scope: string | null;
  draft = $state<BudgetDraft>(toBudgetDraft());
  gauges = $state.raw<readonly BudgetGauge[]>([]);
  /** `missing`: the host is of an older build. */
  state = $state<'loading' | 'ready' | 'missing'>('loading');
  problem = $state.raw<Problem | null>(null);
  #stored = '';

  /** `scope`: null for what does not exist yet. */
  constructor(scope: string | null) {
    this.#scope = scope;
  }

  async load(): Promise<void> {
    // Values for a new chat stay until the chat exists.
    if (this.#scope === null && this.state === 'ready') return;
    try {
      // Also tells whether the host knows budgets.
      const found = await budgets.find(this.#scope ?? 'vault');
      const budget = this.#scope === null && found ? null : found;
      this.draft = toBudgetDraft(budget?.limits);
      this.gauges = budget?.gauges ?? [];
      this.#stored = JSON.stringify(toBudgetLimits(this.draft));
      this.state = budget === undefined ? 'missing' : 'ready';
      this.problem = null;
    } catch (error) {
      this.problem = toProblem(error, m.budgets_doing_read());
    }
  }

  /** Stores a changed budget. `scope`: of what exists now. Rejects if the gateway refuses. */
  async save(scope = this.#scope): Promise<void> {
    const limits = toBudgetLimits(this.draft);
    if (scope !== null && this.state === 'ready' && JSON.stringify(limits) !== this.#stored) await budgets.set(scope, limits);
  }
}
