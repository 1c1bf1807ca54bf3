import { allowsScope } from '#shared/rpc/contract.ts';
import type { configContracts } from '#shared/rpc/methods/config-contracts.ts';
import type { LazyConfigFile } from '../../config/config-file/lazy-config-file.ts';
import { requirePerson } from '../../system/person.ts';
import type { Config } from '../../config/gateway-config.ts';
import { checkChange, hideUnknownSecrets, readSetting } from '../../config/known-settings.ts';
import { parsePath } from '#shared/merge-patch.ts';
import type { Handlers } from '../dispatch.ts';
import type { Caller } from '../../system/caller.ts';
import type { SecretReferences } from '../../config/secrets/secret-references.ts';
import { redactSettings } from '../../config/redact-settings.ts';

/** Only persons may change approval policies: a program could otherwise approve itself. */
const requirePersonForTools = (caller: Caller, name: string | undefined): void => {
  if (name === 'tools') requirePerson(caller, 'change tool policies');
};

export interface ConfigMethodsDeps {
  config: Config;
  file: Pick<LazyConfigFile, 'state'>;
  references: Pick<SecretReferences, 'reload' | 'unresolved'>;
}

export const configMethods = ({ config: store, file, references }: ConfigMethodsDeps): Handlers<typeof configContracts> => ({
  'config.get': ({ key }, { scopes }) => {
    const document = (allowsScope(scopes, 'admin') ? hideUnknownSecrets : redactSettings)(store.document);
    return { ...readSetting(key === undefined ? [] : parsePath(key), document, store.settings), hash: store.hash };
  },
  'config.file': () => file.state,
  'config.set': async ({ key, value }, caller) => {
    requirePersonForTools(caller, key.split('.')[0]);
    return { ok: true, hash: await store.set(key, value, checkChange) };
  },
  'secrets.reload': async () => {
    await store.reload();
    await references.reload();
    return { reloaded: true, count: store.secretCount };
  },
  'config.patch': async ({ patch, baseHash }, caller) => {
    for (const name of Object.keys(patch)) requirePersonForTools(caller, name);
    return { ok: true, hash: await store.patch(patch, baseHash, checkChange) };
  },
});
