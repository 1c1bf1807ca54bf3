import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { readKeyring, removeFromKeyring, writeKeyring } from '../capabilities/secrets/keyring.ts';
import { Home, readFileIfExists, writeFileAtomically } from '../home-directory.ts';
import { KEY_FILE } from '../journal/file-names.ts';
import { parseKeyringMark, toKeyringAccount, createKeyringMark } from '../journal/key-in-keyring.ts';
import { loadVaultKey } from '../journal/vault-key.ts';
import { toCommandLine, toStartCommand } from '../command-line.ts';
import { CommandError, toErrorLine } from './command-error.ts';
import { printNote, printLine } from './terminal-output.ts';

/**
 * `perch secrets keyring [on|off]`: prints or changes where the vault's key is stored (docs/decisions/0041). The key is written, read back,
 * and only then removed from the old place.
 */
export async function moveVaultKey(state: 'on' | 'off' | undefined): Promise<void> {
  const { dir } = await Home.open({ warn: printNote });
  const path = join(dir, KEY_FILE);
  const text = (await readFileIfExists(path))?.trim();
  if (text === undefined) throw new CommandError(`No vault key in ${dir} yet. Start Perch with \`${toStartCommand()}\` first.`);
  const account = parseKeyringMark(text);
  const isInKeyring = account !== undefined;
  if (state === undefined || (state === 'on') === isInKeyring)
    return printLine(isInKeyring ? 'The vault key is in the system keyring' : `The vault key is in ${path}`);
  const key = await loadVaultKey(dir, printNote).catch((error: unknown) => {
    throw new CommandError(toErrorLine(error), 1, { cause: error });
  });
  if (state === 'on') await moveToKeyring(path, key);
  else await moveToFile(path, key);
}

async function moveToKeyring(path: string, key: string): Promise<void> {
  const account = toKeyringAccount(key);
  const isKept = await writeKeyring(account, key, { lasting: true });
  // Reads it like the next start.
  if (!isKept || (await readKeyring([account]))[account] !== key)
    throw new CommandError(`No persistent system keyring is available. The key stays in ${path}.`);
  if ((await readFile(path, 'utf8')).trim() !== key)
    throw new CommandError(`${path} was modified by another program. Nothing was changed.`);
  await writeFileAtomically(path, `${createKeyringMark(key)}\n`, rename);
  printLine('Moved the vault key to the system keyring');
  printNote(`Perch can only start while the keyring is unlocked. Move the key back with \`${toCommandLine('secrets keyring off')}\`.`);
}

async function moveToFile(path: string, key: string): Promise<void> {
  await writeFileAtomically(path, `${key}\n`, rename);
  printLine(`Saved the vault key in ${path}, readable only by you`);
  if (!(await removeFromKeyring(toKeyringAccount(key))))
    printNote(`Couldn’t remove the key from the keyring (account ${toKeyringAccount(key)})`);
}
