import type { Budget, BudgetLimits, PeriodUsage } from '#shared/rpc/methods/budget-contracts.ts';
import type { BudgetPeriod } from '#shared/rpc/budget-period.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '../connection/gateway-connection.svelte.ts';
import { m } from '../i18n/messages.ts';

/** Limits for usage and cost, and the usage of the current day and month. */
class Budgets {
  /** Null before the first answer. */
  list = $state.raw<Budget[] | null>(null);
  usage = $state.raw<Record<BudgetPeriod, PeriodUsage> | null>(null);
  problem = $state.raw<Problem | null>(null);
  /** Whether the first call has ended, also with an error. */
  isSettled = $state(false);
  #loadCount = 0;

  async load(): Promise<void> {
    const loadId = ++this.#loadCount;
    try {
      const { budgets, usage } = await gateway.call('budgets.list', {});
      if (loadId !== this.#loadCount) return;
      this.list = budgets;
      this.usage = usage;
      this.problem = null;
    } catch (error) {
      if (loadId === this.#loadCount && !isUnknownMethod(error) && !isConnectionLost(error))
        this.problem = toProblem(error, m.budgets_doing_read());
    }
    this.isSettled = true;
  }

  /** The budget of a scope; null if it has none, undefined if the host is of an older build. This and the following methods reject. */
  async find(scope: string): Promise<Budget | null | undefined> {
    try {
      return (await gateway.call('budgets.list', { scope })).budgets[0] ?? null;
    } catch (error) {
      if (isUnknownMethod(error)) return undefined;
      throw error;
    }
  }

  async set(scope: string, limits: BudgetLimits | null): Promise<void> {
    await gateway.call('budgets.set', { scope, limits });
    if (this.list) await this.load();
  }

  async continue(scope: string, period: BudgetPeriod): Promise<void> {
    await gateway.call('budgets.continue', { scope, period });
    if (this.list) await this.load();
  }
}

const isUnknownMethod = (error: unknown): boolean => error instanceof RpcError && error.code === 'METHOD_NOT_FOUND';

export const budgets = new Budgets();
