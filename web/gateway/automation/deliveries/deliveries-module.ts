import { defineModule, type Lazy, type Loadable } from '../../system/modules.ts';
import type { PushDevices } from '../push/push-devices.ts';
import type { RunningChannels } from '../channels/running-channels.ts';
import type { Settings } from '../../config/settings-schema.ts';
import type { ChatCarrierDeps } from './chat-carrier.ts';
import type { DeliveriesDeps } from './deliveries.ts';

type DeliveriesNeeds = DeliveriesDeps &
  ChatCarrierDeps & {
    runningChannels: Loadable<RunningChannels>;
    pushDevices: Lazy<PushDevices>;
    settings(): Pick<Settings, 'deliveries' | 'channels'>;
  };

/** Messages of the gateway's own accord: needed for the first one, and at the start if some have not ended. */
export const deliveriesModule = defineModule<DeliveriesNeeds>()({
  name: 'deliveries',
  needs: ['pushDevices', 'vault', 'hub', 'clock', 'sync', 'runDeps', 'agents', 'settings', 'timeZone', 'runningChannels', 'log', 'fault'],
  async load({ runningChannels, pushDevices, ...needs }) {
    const [{ Deliveries }, { createChannelCarrier }, { createChatCarrier }, { createDeviceCarrier }] = await Promise.all([
      import('./deliveries.ts'),
      import('./channel-carrier.ts'),
      import('./chat-carrier.ts'),
      import('../push/device-carrier.ts'),
    ]);
    const deliveries = await Deliveries.open(needs);
    deliveries.registerCarrier('channel', createChannelCarrier({ ...needs, runningChannels }));
    deliveries.registerCarrier('chat', createChatCarrier(needs));
    deliveries.registerCarrier('device', createDeviceCarrier(pushDevices));
    (await runningChannels.load()).onReceipts = (channelId, receipts) => deliveries.receive(channelId, receipts);
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
