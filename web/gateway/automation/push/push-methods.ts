import { pushContracts } from '#shared/rpc/methods/push-contracts.ts';
import { defineMethods } from '../../system/methods.ts';
import type { Lazy } from '../../system/modules.ts';
import { requirePerson } from '../../system/person.ts';
import type { PushDevices } from './push-devices.ts';

export const pushMethods = defineMethods(pushContracts)(({ pushDevices }: { pushDevices: Lazy<PushDevices> }) => ({
  'push.list': async () => {
    const push = await pushDevices.load();
    return { devices: await push.list(), available: push.isAvailable };
  },
  'push.key': async (_params, caller) => {
    requirePerson(caller, 'turn on push notifications');
    return { publicKey: await (await pushDevices.load()).getPublicKey() };
  },
  'push.subscribe': async ({ subscription, ...device }, caller) => {
    // A program could subscribe a device of its own, and approve there.
    requirePerson(caller, 'turn on push notifications');
    return { device: await (await pushDevices.load()).subscribe({ ...device, ...subscription }, caller.principal) };
  },
  'push.remove': async ({ id }, caller) => {
    requirePerson(caller, 'turn off push notifications');
    await (await pushDevices.load()).remove(id);
    return { removed: true };
  },
  'push.test': async ({ id }, caller) => {
    requirePerson(caller, 'send a test notification');
    await (await pushDevices.load()).test(id);
    return { accepted: true };
  },
}));
