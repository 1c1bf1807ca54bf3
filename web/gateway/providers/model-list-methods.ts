import { modelListContracts } from '#shared/rpc/methods/model-list-contracts.ts';
import { defineMethods } from '../system/methods.ts';
import type { Providers } from './providers.ts';

export const modelListMethods = defineMethods(modelListContracts)(({ providers }: { providers: Providers }) => ({
  'models.list': async (_params, { signal }) => ({ models: await providers.list({ signal }), pricesAsOf: await providers.getPricesDate() }),

  'models.providers': async ({ refresh }, { signal }) => ({ providers: await providers.listStates({ refresh, signal }) }),
}));
