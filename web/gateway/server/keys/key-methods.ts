import { keyContracts } from '#shared/rpc/methods/key-contracts.ts';
import { requirePerson } from '../../system/person.ts';
import { defineMethods } from '../../system/methods.ts';
import type { ApiKeys } from './api-keys.ts';
import type { Lazy } from '../../system/modules.ts';

interface KeyMethodsDeps {
  access: Lazy<{ keys: ApiKeys }>;
}

export const keyMethods = defineMethods(keyContracts)(({ access }: KeyMethodsDeps) => ({
  'keys.list': async () => {
    const keys = await (await access.load()).keys.list();
    return { keys, count: keys.length };
  },
  'keys.create': async ({ name, scopes, limits }, caller) => {
    // A program that creates a key could bypass its own limits.
    requirePerson(caller, 'create an API key');
    return (await access.load()).keys.create(name, scopes, limits);
  },
  'keys.update': async ({ id, ...changes }, caller) => {
    requirePerson(caller, 'change an API key');
    return { key: await (await access.load()).keys.update(id, changes) };
  },
  'keys.revoke': async ({ id }, caller) => {
    requirePerson(caller, 'revoke an API key');
    await (await access.load()).keys.revoke(id);
    return { revoked: true };
  },
}));
