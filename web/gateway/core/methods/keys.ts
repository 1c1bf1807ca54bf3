import type { keys } from '#shared/rpc/methods/keys.ts';
import type { Handlers } from '../dispatch.ts';
import type { ApiKeys } from '../keys/keys.ts';

export interface KeyMethodsDeps {
  keys(): Promise<ApiKeys>;
}

export const keyMethods = ({ keys: load }: KeyMethodsDeps): Handlers<typeof keys> => ({
  'keys.list': async () => {
    const keys = await (await load()).list();
    return { keys, count: keys.length };
  },
  'keys.create': async ({ name, scopes, limits }) => (await load()).create(name, scopes, limits),
  'keys.update': async ({ id, ...changes }) => ({ key: await (await load()).update(id, changes) }),
  'keys.revoke': async ({ id }) => {
    await (await load()).revoke(id);
    return { revoked: true };
  },
});
