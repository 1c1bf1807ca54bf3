import { lazy } from '../lazy.ts';
import type { Devices, DevicesDeps } from './devices.ts';

/** The paired devices, loaded when they are first asked for. */
export interface DevicesLater {
  devices(): Promise<Devices>;
  /** A device has connected, called or gone. */
  seen(principal: string): void;
  stop(): void;
}

export function devicesLater(deps: DevicesDeps): DevicesLater {
  let opened: Devices | undefined;
  let stopped = false;
  const devices = lazy(async () => {
    const { Devices } = await import('./devices.ts');
    opened = new Devices(deps);
    if (stopped) opened.stop();
    return opened;
  });
  return {
    devices,
    seen(principal) {
      if (stopped || !principal.startsWith('device:')) return;
      devices()
        .then((made) => made.seen(principal))
        .catch(deps.fault);
    },
    stop() {
      stopped = true;
      opened?.stop();
    },
  };
}
