import { defineModule } from '../../system/modules.ts';
import type { DeliveriesDeps } from './deliveries.ts';

/** Messages of the gateway's own accord: needed for the first one, and at the start if some have not ended. */
export const deliveriesModule = defineModule<DeliveriesDeps>()({
  name: 'deliveries',
  needs: ['vault', 'hub', 'clock', 'sync', 'settings', 'timeZone', 'log', 'fault'],
  async load(needs) {
    const deliveries = await (await import('./deliveries.ts')).Deliveries.open(needs);
    deliveries.start();
    return deliveries;
  },
  wakeOn: {
    if: async ({ vault }) => (await vault.collection('deliveries').keys()).length > 0,
    changes: ['deliveries'],
  },
  drain: async (deliveries) => deliveries.stop(),
  stop: (deliveries) => deliveries.stop(),
});
