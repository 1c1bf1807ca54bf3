import { call } from '../contract.ts';
import { modelEntry, providerEntry } from '../records.ts';
import { z } from '../zod.ts';

/** What a page shows of models at its start. */
export const modelList = {
  'models.list': call({
    params: z.strictObject({}),
    result: z.object({
      models: z.array(modelEntry),
      /** The day of the built-in table's prices; null where none of them is used. */
      pricesAsOf: z.string().nullable(),
    }),
    docs: 'Lists available models: the built-in guide and what the configured or discovered servers list. Limits and prices that a server does not list come from a built-in table of the day `pricesAsOf`.',
    policy: { scope: 'read' },
  }),
  'models.providers': call({
    params: z.strictObject({ refresh: z.boolean().optional() }),
    result: z.object({ providers: z.array(providerEntry) }),
    docs: 'Lists providers with their state, and until when one is left alone whose server has failed too often; `refresh` asks the servers again and looks for new ones on localhost.',
    policy: { scope: 'read' },
  }),
};
