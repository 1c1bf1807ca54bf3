import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { readKeyring, removeFromKeyring, writeKeyring } from '../capabilities/secrets/keyring.ts';
import { Home, readIfThere, writeWhole } from '../home.ts';
import { KEY_FILE } from '../journal/file-names.ts';
import { accountIn, accountOf, markOf } from '../journal/key-in-keyring.ts';
import { vaultKey } from '../journal/vault-key.ts';
import { commandLine, startCommand } from '../command-line.ts';
import { CommandError, lineOf } from './errors.ts';
import { note, say } from './output.ts';

/**
 * `perch secrets keyring [on|off]`: prints or changes where the vault's key is stored (docs/decisions/0041). The key is written, read back,
 * and only then removed from the old place.
 */
export async function placeVaultKey(wanted: 'on' | 'off' | undefined): Promise<void> {
  const { dir } = await Home.open({ warn: note });
  const path = join(dir, KEY_FILE);
  const text = (await readIfThere(path))?.trim();
  if (text === undefined) throw new CommandError(`No vault key in ${dir} yet. Start Perch with \`${startCommand()}\` first.`);
  const account = accountIn(text);
  const isIn = account !== undefined;
  if (wanted === undefined || (wanted === 'on') === isIn)
    return say(isIn ? 'The vault key is in the system keyring' : `The vault key is in ${path}`);
  const key = await vaultKey(dir, note).catch((error: unknown) => {
    throw new CommandError(lineOf(error), 1, { cause: error });
  });
  if (wanted === 'on') await intoKeyring(path, key);
  else await intoFile(path, key);
}

async function intoKeyring(path: string, key: string): Promise<void> {
  const account = accountOf(key);
  const isKept = await writeKeyring(account, key, { lasting: true });
  // Reads it like the next start.
  if (!isKept || (await readKeyring([account]))[account] !== key)
    throw new CommandError(`No persistent system keyring is available. The key stays in ${path}.`);
  if ((await readFile(path, 'utf8')).trim() !== key)
    throw new CommandError(`${path} was modified by another program. Nothing was changed.`);
  await writeWhole(path, `${markOf(key)}\n`, rename);
  say('Moved the vault key to the system keyring');
  note(`Perch can only start while the keyring is unlocked. Move the key back with \`${commandLine('secrets keyring off')}\`.`);
}

async function intoFile(path: string, key: string): Promise<void> {
  await writeWhole(path, `${key}\n`, rename);
  say(`Saved the vault key in ${path}, readable only by you`);
  if (!(await removeFromKeyring(accountOf(key)))) note(`Couldn’t remove the key from the keyring (account ${accountOf(key)})`);
}
