import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkMode, codeOf, linkOrRename, readIfThere, reasonOf, writeWhole } from '../home.ts';
import { JOURNAL_FILE, KEY_FILE } from './file-names.ts';
import { accountIn, isKey, keyFromKeyring } from './key-in-keyring.ts';

/**
 * Returns the key that seals the vault's secrets and signs its journal (256 bits, base64url). It is in `vault.key` in the home directory,
 * created at the first start with mode 0600, outside the journal, or in the system's keyring if that file says so (docs/decisions/0041).
 * Throws if an existing key can't be read, since secrets sealed with it would be lost with a new one. Calls `warn` if other users can
 * access the file.
 */
export async function vaultKey(dir: string, warn: (line: string) => void = () => {}): Promise<string> {
  const path = join(dir, KEY_FILE);
  const found = await readIfThere(path);
  if (found === undefined) {
    if (!existsSync(join(dir, JOURNAL_FILE))) return make(path);
    throw new Error(`${path} is missing. The journal can’t be read without it. Restore the file, or move the journal away.`);
  }
  await checkMode(path, 0o600, warn);
  return keyIn(path, found);
}

async function make(path: string): Promise<string> {
  const key = randomBytes(32).toString('base64url');
  try {
    await writeWhole(path, `${key}\n`, linkOrRename);
    return key;
  } catch (error) {
    // Another process created the key first: use that one.
    if (codeOf(error) === 'EEXIST') return keyIn(path, await readFile(path, 'utf8'));
    throw new Error(`Couldn’t write the vault key ${path}: ${reasonOf(error)}`, { cause: error });
  }
}

async function keyIn(path: string, text: string): Promise<string> {
  const key = text.trim();
  if (isKey(key)) return key;
  const account = accountIn(key);
  if (account !== undefined) return keyFromKeyring(account);
  throw new Error(`${path} doesn’t contain a valid key (43 characters of base64url). Restore it, or delete it together with the journal.`);
}
