import type { keyContracts } from '#shared/rpc/methods/key-contracts.ts';
import { requirePerson } from '../../system/person.ts';
import type { Handlers } from '../dispatch.ts';
import type { ApiKeys } from '../keys/api-keys.ts';

export interface KeyMethodsDeps {
  keys(): Promise<ApiKeys>;
}

export const keyMethods = ({ keys: load }: KeyMethodsDeps): Handlers<typeof keyContracts> => ({
  'keys.list': async () => {
    const keys = await (await load()).list();
    return { keys, count: keys.length };
  },
  'keys.create': async ({ name, scopes, limits }, caller) => {
    // A program that creates a key could bypass its own limits.
    requirePerson(caller, 'create an API key');
    return (await load()).create(name, scopes, limits);
  },
  'keys.update': async ({ id, ...changes }, caller) => {
    requirePerson(caller, 'change an API key');
    return { key: await (await load()).update(id, changes) };
  },
  'keys.revoke': async ({ id }, caller) => {
    requirePerson(caller, 'revoke an API key');
    await (await load()).revoke(id);
    return { revoked: true };
  },
});
