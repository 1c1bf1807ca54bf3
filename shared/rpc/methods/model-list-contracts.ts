import { defineMethod } from '../contract.ts';
import { modelEntry, providerEntry } from '../record-schemas.ts';
import { z } from '../zod.ts';

/** The list of models, which a page needs at its start. */
export const modelListContracts = {
  'models.list': defineMethod({
    params: z.strictObject({}),
    result: z.object({
      models: z.array(modelEntry),
      /** Date of the prices in the built-in table; null if none of them is used. */
      pricesAsOf: z.string().nullable(),
    }),
    docs: 'Lists the available models: the built-in guide, and the models of configured or detected servers. Limits and prices that a server does not report come from a built-in table of the date `pricesAsOf`.',
    policy: { scope: 'read' },
  }),
  'models.providers': defineMethod({
    params: z.strictObject({ refresh: z.boolean().optional() }),
    result: z.object({ providers: z.array(providerEntry) }),
    docs: 'Lists the providers with their state. A provider whose server failed repeatedly is paused; `resting` gives the end of the pause. `refresh: true` queries the servers again and looks for new ones on localhost.',
    policy: { scope: 'read' },
  }),
};
