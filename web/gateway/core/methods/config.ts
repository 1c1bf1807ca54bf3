import { allows } from '#shared/rpc/contract.ts';
import type { config } from '#shared/rpc/methods/config.ts';
import type { KeptFile } from '../config-file/keep.ts';
import { requirePerson } from '../approvals/person.ts';
import type { Config } from '../config.ts';
import { checkChange, hideUnknownSecrets, readSetting } from '../known-settings.ts';
import { pathOf } from '../merge.ts';
import type { Caller, Handlers } from '../dispatch.ts';
import type { SecretReferences } from '../secrets/keep.ts';
import { shownSettings } from '../shown-settings.ts';

/** Only persons may change approval policies: a program could otherwise approve itself. */
const checkTools = (caller: Caller, name: string | undefined): void => {
  if (name === 'tools') requirePerson(caller, 'change tool policies');
};

export interface ConfigDeps {
  config: Config;
  file: Pick<KeptFile, 'state'>;
  references: Pick<SecretReferences, 'reload' | 'unresolved'>;
}

export const configMethods = ({ config: store, file, references }: ConfigDeps): Handlers<typeof config> => ({
  'config.get': ({ key }, { scopes }) => {
    const document = (allows(scopes, 'admin') ? hideUnknownSecrets : shownSettings)(store.document);
    return { ...readSetting(key === undefined ? [] : pathOf(key), document, store.settings), hash: store.hash };
  },
  'config.file': () => file.state,
  'config.set': async ({ key, value }, caller) => {
    checkTools(caller, key.split('.')[0]);
    return { ok: true, hash: await store.set(key, value, checkChange) };
  },
  'secrets.reload': async () => {
    await store.reload();
    await references.reload();
    return { reloaded: true, count: store.secretCount };
  },
  'config.patch': async ({ patch, baseHash }, caller) => {
    for (const name of Object.keys(patch)) checkTools(caller, name);
    return { ok: true, hash: await store.patch(patch, baseHash, checkChange) };
  },
});
