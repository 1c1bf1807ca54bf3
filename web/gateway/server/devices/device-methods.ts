import { deviceContracts } from '#shared/rpc/methods/device-contracts.ts';
import type { PushDevices } from '../../automation/push/push-devices.ts';
import { requirePerson } from '../../system/person.ts';
import type { Access } from '../access/access.ts';
import { defineMethods } from '../../system/methods.ts';
import type { Lazy } from '../../system/modules.ts';

interface DeviceMethodsDeps {
  access: Lazy<Pick<Access, 'devices' | 'browsers'>>;
  pushDevices: Lazy<Pick<PushDevices, 'removeOwnedBy'>>;
}

export const deviceMethods = defineMethods(deviceContracts)(({ access, pushDevices }: DeviceMethodsDeps) => ({
  'device.initiate': async ({ deviceName, scopes }, caller) => {
    // A device acts as a person: a program that could pair one could approve itself.
    requirePerson(caller, 'pair a device');
    return (await access.load()).devices.initiate(deviceName, scopes);
  },
  'device.complete': async ({ code, response }) => ({ paired: true, ...(await (await access.load()).devices.complete(code, response)) }),
  'device.list': async () => {
    const devices = await (await access.load()).devices.list();
    return { devices, count: devices.length };
  },
  'device.revoke': async ({ deviceId }) => {
    await (await access.load()).devices.revoke(deviceId);
    await (await pushDevices.load()).removeOwnedBy({ pairedDeviceId: deviceId });
    return { revoked: true };
  },
  'device.browsers': async () => {
    const browsers = await (await access.load()).browsers.list();
    return { browsers, count: browsers.length };
  },
  'device.unlink': async ({ browserId }) => {
    await (await access.load()).browsers.unlink(browserId);
    await (await pushDevices.load()).removeOwnedBy({ browserId });
    return { unlinked: true };
  },
}));
