import { defineModule } from '../../system/modules.ts';
import type { PushDevicesDeps } from './push-devices.ts';

/** Push notifications, needed once a device receives them. */
export const pushModule = defineModule<PushDevicesDeps>()({
  name: 'pushDevices',
  needs: ['vault', 'bridge', 'hub', 'clock'],
  load: async (needs) => new (await import('./push-devices.ts')).PushDevices(needs),
});
