import type { modelListContracts } from '#shared/rpc/methods/model-list-contracts.ts';
import type { Handlers } from '../dispatch.ts';
import type { Providers } from '../../providers/providers.ts';

export const modelListMethods = ({ providers }: { providers: Providers }): Handlers<typeof modelListContracts> => ({
  'models.list': async (_params, { signal }) => ({ models: await providers.list({ signal }), pricesAsOf: await providers.getPricesDate() }),

  'models.providers': async ({ refresh }, { signal }) => ({ providers: await providers.listStates({ refresh, signal }) }),
});
