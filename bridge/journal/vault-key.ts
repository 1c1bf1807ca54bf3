import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { warnIfExposed, getErrorCode, linkOrRename, readFileIfExists, describeError, writeFileAtomically } from '../home-directory.ts';
import { JOURNAL_FILE, KEY_FILE } from './file-names.ts';
import { parseKeyringMark, isVaultKey, readKeyFromKeyring } from './key-in-keyring.ts';

/**
 * Returns the key that seals the vault's secrets and signs its journal (256 bits, base64url). It is in `vault.key` in the home directory,
 * created at the first start with mode 0600, outside the journal, or in the system's keyring if that file says so (docs/decisions/0041).
 * Throws if an existing key can't be read, since secrets sealed with it would be lost with a new one. Calls `warn` if other users can
 * access the file.
 */
export async function loadVaultKey(dir: string, warn: (line: string) => void = () => {}): Promise<string> {
  const path = join(dir, KEY_FILE);
  const found = await readFileIfExists(path);
  if (found === undefined) {
    if (!existsSync(join(dir, JOURNAL_FILE))) return createKey(path);
    throw new Error(`${path} is missing. The journal can’t be read without it. Restore the file, or move the journal away.`);
  }
  await warnIfExposed(path, 0o600, warn);
  return parseKey(path, found);
}

async function createKey(path: string): Promise<string> {
  const key = randomBytes(32).toString('base64url');
  try {
    await writeFileAtomically(path, `${key}\n`, linkOrRename);
    return key;
  } catch (error) {
    // Another process created the key first: use that one.
    if (getErrorCode(error) === 'EEXIST') return parseKey(path, await readFile(path, 'utf8'));
    throw new Error(`Couldn’t write the vault key ${path}: ${describeError(error)}`, { cause: error });
  }
}

async function parseKey(path: string, text: string): Promise<string> {
  const key = text.trim();
  if (isVaultKey(key)) return key;
  const account = parseKeyringMark(key);
  if (account !== undefined) return readKeyFromKeyring(account);
  throw new Error(`${path} doesn’t contain a valid key (43 characters of base64url). Restore it, or delete it together with the journal.`);
}
