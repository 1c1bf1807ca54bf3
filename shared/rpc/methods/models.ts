import { call } from '../contract.ts';
import { kindEntry, modelEntry, providerEntry } from '../records.ts';
import { z } from '../zod.ts';

/** Models and the providers they come from (interface document 1, section 4.1). */
export const models = {
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
  'models.catalog': call({
    params: z.strictObject({}),
    result: z.object({ kinds: z.array(kindEntry) }),
    docs: 'Lists the kinds of providers that can be configured under `providers.<id>.kind`.',
    policy: { scope: 'read' },
  }),
  'models.probe': call({
    params: z.strictObject({ model: z.string().min(1).max(300), provider: z.string().max(128).optional() }),
    result: z.object({ available: z.boolean(), latency: z.number().nullable(), error: z.string().optional() }),
    docs: 'Whether a model answers; `latency` in milliseconds. A server that is left alone is asked all the same, and goes on being left alone unless it answers.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read', metered: true },
  }),
};
