import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { readFileIfExists } from '../home-directory.ts';
import { KEY_FILE } from './file-names.ts';
import { KEYRING_MS, KEYRING_SERVICE } from '../capabilities/secrets/keyring-constants.ts';

const KEY_PATTERN = /^[A-Za-z0-9_-]{43}$/;
const KEYRING_MARK = /^keyring (PERCH_VAULT_KEY_[0-9a-f]{16})$/;

/** Whether a text is a key in the format of `vault.key`: 256 bits, base64url. */
export const isVaultKey = (text: string): boolean => KEY_PATTERN.test(text);

/**
 * Name of the key in the keyring. Derived from its digest, so that another key is never mistaken for it. Settings can't refer to names with
 * Perch's prefix.
 */
export const toKeyringAccount = (key: string): string =>
  `PERCH_VAULT_KEY_${createHash('sha256').update(Buffer.from(key, 'base64url')).digest('hex').slice(0, 16)}`;

/** Contents of `vault.key` if the key itself is in the keyring. */
export const createKeyringMark = (key: string): string => `keyring ${toKeyringAccount(key)}`;

/** Returns the keyring name that a `vault.key` refers to; undefined if it contains none. */
export const parseKeyringMark = (text: string): string | undefined => KEYRING_MARK.exec(text)?.[1];

/** Returns where the key is stored, according to the file; null if unknown. */
export async function getVaultKeyLocation(dir: string): Promise<'file' | 'keyring' | null> {
  const text = (await readFileIfExists(join(dir, KEY_FILE)).catch(() => undefined))?.trim();
  if (text === undefined) return null;
  return isVaultKey(text) ? 'file' : parseKeyringMark(text) === undefined ? null : 'keyring';
}

/**
 * Reads the key with this name from the keyring, within `KEYRING_MS`. Throws an error that says what to do if the keyring does not return
 * exactly that key.
 */
export async function readKeyFromKeyring(account: string): Promise<string> {
  const { readKeyring } = await import('../capabilities/secrets/keyring.ts');
  const { [account]: key } = await readKeyring([account]);
  const place = `The vault key is in the system keyring (service ${KEYRING_SERVICE}, account ${account})`;
  if (key === undefined)
    throw new Error(
      `${place}, which didn’t return it within ${KEYRING_MS / 1000} s. Unlock the keyring and start again. No new key was created.`,
    );
  if (!isVaultKey(key) || toKeyringAccount(key) !== account)
    throw new Error(`${place}, but the entry contains something else. Restore it. No new key was created.`);
  return key;
}
