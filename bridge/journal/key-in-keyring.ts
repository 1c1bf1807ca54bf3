import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { readIfThere } from '../home.ts';
import { KEY_FILE } from './file-names.ts';
import { KEYRING_MS, SERVICE } from '../capabilities/secrets/keyring-place.ts';

const KEY = /^[A-Za-z0-9_-]{43}$/;
const MARK = /^keyring (PERCH_VAULT_KEY_[0-9a-f]{16})$/;

/** A key as `vault.key` has it, 256 bit in base64url. */
export const isKey = (text: string): boolean => KEY.test(text);

/** What the key is called in the keyring: by its own digest, so that another one is never taken for it. No setting can refer to a name of Perch's. */
export const accountOf = (key: string): string =>
  `PERCH_VAULT_KEY_${createHash('sha256').update(Buffer.from(key, 'base64url')).digest('hex').slice(0, 16)}`;

/** What `vault.key` says where the key itself is in the keyring. */
export const markOf = (key: string): string => `keyring ${accountOf(key)}`;

/** The name in the keyring that a `vault.key` refers to; undefined where it does not. */
export const accountIn = (text: string): string | undefined => MARK.exec(text)?.[1];

/** Where the key is, by the file; null where that cannot be told. */
export async function vaultKeyPlace(dir: string): Promise<'file' | 'keyring' | null> {
  const text = (await readIfThere(join(dir, KEY_FILE)).catch(() => undefined))?.trim();
  if (text === undefined) return null;
  return isKey(text) ? 'file' : accountIn(text) === undefined ? null : 'keyring';
}

/** The key of this name, within `KEYRING_MS`. Throws, and says what to do, where the keyring does not give exactly that key. */
export async function keyFromKeyring(account: string): Promise<string> {
  const { readKeyring } = await import('../capabilities/secrets/keyring.ts');
  const { [account]: key } = await readKeyring([account]);
  const place = `The vault key is in the system keyring (service ${SERVICE}, account ${account})`;
  if (key === undefined)
    throw new Error(
      `${place}, which didn’t return it within ${KEYRING_MS / 1000} s. Unlock the keyring and start again. No new key was created.`,
    );
  if (!isKey(key) || accountOf(key) !== account)
    throw new Error(`${place}, but the entry contains something else. Restore it. No new key was created.`);
  return key;
}
