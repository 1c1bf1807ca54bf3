import { createNotLoadedError } from '#shared/async/lazy.ts';
import type { Lazy } from '../../system/modules.ts';
import type { ModelUsage } from '../runs/generate.ts';
import type { Models } from '../runs/run-types.ts';
import { VAULT_SCOPE } from './budget-scopes.ts';
import type { Budgets } from './budgets.ts';

/** The check before each model call. The built-in guide is no model and has no cost. */
export function createBudgetCheck({ load }: Lazy<Budgets>): NonNullable<Models['checkBudgets']> {
  return async (key, scopes = [VAULT_SCOPE], shares) => {
    if (key.startsWith('guide/')) return;
    const budgets = await load().catch((cause: unknown) => Promise.reject(createNotLoadedError(cause)));
    await budgets.check(scopes, sumShares(shares));
  };
}

const sumShares = (shares: readonly ModelUsage[]): { cost: number; tokens: number } => ({
  cost: shares.reduce((sum, { usage }) => sum + (usage.cost ?? 0), 0),
  tokens: shares.reduce((sum, { usage }) => sum + usage.totalTokens, 0),
});
