import type { devices } from '#shared/rpc/methods/device.ts';
import { requirePerson } from '../approvals/person.ts';
import type { Devices } from '../devices/devices.ts';
import type { Handlers } from '../dispatch.ts';

export interface DeviceMethodsDeps {
  devices(): Promise<Devices>;
}

export const deviceMethods = ({ devices: load }: DeviceMethodsDeps): Handlers<typeof devices> => ({
  'device.initiate': async ({ deviceName, scopes }, caller) => {
    // A device passes for a person: a program that paired one would approve itself.
    requirePerson(caller, 'pair a device');
    return (await load()).initiate(deviceName, scopes);
  },
  'device.complete': async ({ code, response }) => ({ paired: true, ...(await (await load()).complete(code, response)) }),
  'device.list': async () => {
    const devices = await (await load()).list();
    return { devices, count: devices.length };
  },
  'device.revoke': async ({ deviceId }) => {
    await (await load()).revoke(deviceId);
    return { revoked: true };
  },
});
