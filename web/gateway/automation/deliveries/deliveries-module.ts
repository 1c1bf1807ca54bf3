import { defineModule, type Lazy } from '../../system/modules.ts';
import type { PushDevices } from '../push/push-devices.ts';
import type { DeliveriesDeps } from './deliveries.ts';

/** Messages of the gateway's own accord: needed for the first one, and at the start if some have not ended. */
export const deliveriesModule = defineModule<DeliveriesDeps & { pushDevices: Lazy<PushDevices> }>()({
  name: 'deliveries',
  needs: ['pushDevices', 'vault', 'hub', 'clock', 'sync', 'settings', 'timeZone', 'log', 'fault'],
  async load({ pushDevices, ...needs }) {
    const deliveries = await (await import('./deliveries.ts')).Deliveries.open(needs);
    const { createDeviceCarrier } = await import('../push/device-carrier.ts');
    deliveries.registerCarrier('device', createDeviceCarrier(pushDevices));
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
