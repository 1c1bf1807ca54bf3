import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { readIfThere } from '../home.ts';
import { KEY_FILE } from './file-names.ts';
import { KEYRING_MS, SERVICE } from '../capabilities/secrets/keyring-place.ts';

const KEY = /^[A-Za-z0-9_-]{43}$/;
const MARK = /^keyring (PERCH_VAULT_KEY_[0-9a-f]{16})$/;

/** Whether a text is a key in the format of `vault.key`: 256 bits, base64url. */
export const isKey = (text: string): boolean => KEY.test(text);

/**
 * Name of the key in the keyring. Derived from its digest, so that another key is never mistaken for it. Settings can't refer to names with
 * Perch's prefix.
 */
export const accountOf = (key: string): string =>
  `PERCH_VAULT_KEY_${createHash('sha256').update(Buffer.from(key, 'base64url')).digest('hex').slice(0, 16)}`;

/** Contents of `vault.key` if the key itself is in the keyring. */
export const markOf = (key: string): string => `keyring ${accountOf(key)}`;

/** Returns the keyring name that a `vault.key` refers to; undefined if it contains none. */
export const accountIn = (text: string): string | undefined => MARK.exec(text)?.[1];

/** Returns where the key is stored, according to the file; null if unknown. */
export async function vaultKeyPlace(dir: string): Promise<'file' | 'keyring' | null> {
  const text = (await readIfThere(join(dir, KEY_FILE)).catch(() => undefined))?.trim();
  if (text === undefined) return null;
  return isKey(text) ? 'file' : accountIn(text) === undefined ? null : 'keyring';
}

/**
 * Reads the key with this name from the keyring, within `KEYRING_MS`. Throws an error that says what to do if the keyring does not return
 * exactly that key.
 */
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
