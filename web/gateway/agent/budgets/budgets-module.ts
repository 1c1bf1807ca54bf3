import { defineModule } from '../../system/modules.ts';
import type { BudgetsDeps } from './budgets.ts';

/** Budgets, which the first run needs. */
export const budgetsModule = defineModule<BudgetsDeps>()({
  name: 'budgets',
  needs: ['vault', 'hub', 'clock', 'agents', 'settings', 'timeZone', 'log', 'fault', 'withdrawRoutes'],
  load: async (needs) => (await import('./budgets.ts')).Budgets.open(needs),
  stop: (budgets) => budgets.stop(),
});
