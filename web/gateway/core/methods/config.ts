import type { config } from '#shared/rpc/methods/config.ts';
import type { KeptFile } from '../config-file/keep.ts';
import type { Config } from '../config.ts';
import type { Handlers } from '../dispatch.ts';

export const configMethods = ({ config: store, file }: { config: Config; file: Pick<KeptFile, 'state'> }): Handlers<typeof config> => ({
  'config.get': ({ key }) => ({ value: store.get(key), hash: store.hash }),
  'config.set': async ({ key, value }) => ({ ok: true, hash: await store.set(key, value) }),
  'config.file': () => file.state,
  'secrets.reload': async () => {
    await store.reload();
    return { reloaded: true, count: store.secretCount };
  },
  'config.patch': async ({ patch, baseHash }) => ({ ok: true, hash: await store.patch(patch, baseHash) }),
});
