import type { modelList } from '#shared/rpc/methods/model-list.ts';
import type { Handlers } from '../dispatch.ts';
import type { Providers } from '../providers/providers.ts';

export const modelListMethods = ({ providers }: { providers: Providers }): Handlers<typeof modelList> => ({
  'models.list': async (_params, { signal }) => ({ models: await providers.list({ signal }), pricesAsOf: await providers.pricesAsOf() }),

  'models.providers': async ({ refresh }, { signal }) => ({ providers: await providers.states({ refresh, signal }) }),
});
