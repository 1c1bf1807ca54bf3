import type { deviceContracts } from '#shared/rpc/methods/device-contracts.ts';
import { requirePerson } from '../../system/person.ts';
import type { Access } from '../access/access.ts';
import type { Handlers } from '../dispatch.ts';

export interface DeviceMethodsDeps {
  access(): Promise<Pick<Access, 'devices' | 'browsers'>>;
}

export const deviceMethods = ({ access }: DeviceMethodsDeps): Handlers<typeof deviceContracts> => ({
  'device.initiate': async ({ deviceName, scopes }, caller) => {
    // A device acts as a person: a program that could pair one could approve itself.
    requirePerson(caller, 'pair a device');
    return (await access()).devices.initiate(deviceName, scopes);
  },
  'device.complete': async ({ code, response }) => ({ paired: true, ...(await (await access()).devices.complete(code, response)) }),
  'device.list': async () => {
    const devices = await (await access()).devices.list();
    return { devices, count: devices.length };
  },
  'device.revoke': async ({ deviceId }) => {
    await (await access()).devices.revoke(deviceId);
    return { revoked: true };
  },
  'device.browsers': async () => {
    const browsers = await (await access()).browsers.list();
    return { browsers, count: browsers.length };
  },
  'device.unlink': async ({ browserId }) => {
    await (await access()).browsers.unlink(browserId);
    return { unlinked: true };
  },
});
