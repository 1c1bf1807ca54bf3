import { allowsScope } from '#shared/rpc/contract.ts';
import { configContracts } from '#shared/rpc/methods/config-contracts.ts';
import type { ConfigFile } from './config-file/config-file.ts';
import { getConfigFileState } from './config-file/config-file-state.ts';
import type { Loadable } from '../system/modules.ts';
import { requirePerson } from '../system/person.ts';
import type { Config } from './gateway-config.ts';
import { checkChange, hideUnknownSecrets, readSetting } from './known-settings.ts';
import { parsePath } from '#shared/merge-patch.ts';
import { defineMethods } from '../system/methods.ts';
import type { Caller } from '../system/caller.ts';
import type { SecretReferences } from './secrets/secret-references.ts';
import type { Settings } from './settings-schema.ts';
import { redactSettings } from './redact-settings.ts';

/**
 * Only persons may change what decides about approvals, since a program could otherwise approve itself: policies, the accounts and devices
 * that approvals are sent to, and then also the channels that lead there.
 */
function requirePersonForApprovals(caller: Caller, name: string | undefined, { approvals }: Settings): void {
  if (name === 'tools') requirePerson(caller, 'change tool policies');
  if (name === 'approvals') requirePerson(caller, 'change where approvals are sent');
  if (name === 'channels' && approvals.deliver.length > 0) requirePerson(caller, 'change channels while approvals are sent there');
}

interface ConfigMethodsDeps {
  config: Config;
  configFile: Pick<Loadable<ConfigFile>, 'loaded'>;
  references: Pick<SecretReferences, 'reload' | 'unresolved'>;
}

export const configMethods = defineMethods(configContracts)(({ config: store, configFile, references }: ConfigMethodsDeps) => ({
  'config.get': ({ key }, { scopes }) => {
    const document = (allowsScope(scopes, 'admin') ? hideUnknownSecrets : redactSettings)(store.document);
    return { ...readSetting(key === undefined ? [] : parsePath(key), document, store.settings), hash: store.hash };
  },
  'config.file': () => getConfigFileState(configFile),
  'config.set': async ({ key, value }, caller) => {
    requirePersonForApprovals(caller, parsePath(key)[0], store.settings);
    return { ok: true, hash: await store.set(key, value, checkChange) };
  },
  'secrets.reload': async () => {
    await store.reload();
    await references.reload();
    return { reloaded: true, count: store.secretCount };
  },
  'config.patch': async ({ patch, baseHash }, caller) => {
    for (const name of Object.keys(patch)) requirePersonForApprovals(caller, name, store.settings);
    return { ok: true, hash: await store.patch(patch, baseHash, checkChange) };
  },
}));
