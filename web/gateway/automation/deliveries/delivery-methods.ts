import { deliveryContracts } from '#shared/rpc/methods/delivery-contracts.ts';
import { defineMethods } from '../../system/methods.ts';
import type { Lazy } from '../../system/modules.ts';
import { requirePerson } from '../../system/person.ts';
import type { Deliveries } from './deliveries.ts';

export const deliveryMethods = defineMethods(deliveryContracts)(({ deliveries }: { deliveries: Lazy<Deliveries> }) => ({
  'deliveries.list': async (page) => (await deliveries.load()).list(page),

  'deliveries.get': async ({ id }) => ({ delivery: await (await deliveries.load()).get(id) }),

  'deliveries.resend': async ({ id }, caller) => {
    requirePerson(caller, 'send a message again');
    return { delivery: await (await deliveries.load()).resend(id) };
  },

  'deliveries.cancel': async ({ id }, caller) => {
    requirePerson(caller, 'cancel a message');
    return { delivery: await (await deliveries.load()).cancel(id) };
  },
}));
