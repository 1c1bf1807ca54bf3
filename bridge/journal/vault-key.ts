import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkMode, codeOf, linkOrRename, readIfThere, reasonOf, writeWhole } from '../home.ts';
import { KEY_FILE } from './file-names.ts';

/**
 * The key that the vault's secrets are sealed with, and its journal signed (256 bit, base64url): `vault.key` in the home directory, made at the first start
 * and kept with mode 0600, outside the journal. Throws where the file holds something else. `warn` hears of a mode that lets others in.
 */
export async function vaultKey(dir: string, warn: (line: string) => void = () => {}): Promise<string> {
  const path = join(dir, KEY_FILE);
  const found = await readIfThere(path);
  if (found === undefined) return make(path);
  await checkMode(path, 0o600, warn);
  return keyIn(path, found);
}

async function make(path: string): Promise<string> {
  const key = randomBytes(32).toString('base64url');
  try {
    await writeWhole(path, `${key}\n`, linkOrRename);
    return key;
  } catch (error) {
    // Another start was faster: its key counts.
    if (codeOf(error) === 'EEXIST') return keyIn(path, await readFile(path, 'utf8'));
    throw new Error(`the vault’s key ${path} cannot be written: ${reasonOf(error)}`, { cause: error });
  }
}

function keyIn(path: string, text: string): string {
  const key = text.trim();
  if (/^[A-Za-z0-9_-]{43}$/.test(key)) return key;
  throw new Error(`${path} does not hold a key (43 characters of base64url): restore it, or delete it with the journal beside it`);
}
