import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { secretName } from '#shared/ports/secrets.ts';
import { changeEnvFile, readEnvFile } from '../capabilities/secrets/env-file.ts';
import { readKeyring, removeFromKeyring, writeKeyring } from '../capabilities/secrets/keyring.ts';
import { knownNames, noteName } from '../capabilities/secrets/known-names.ts';
import { SECRETS_FILE } from '../capabilities/secrets/secrets.ts';
import { Home } from '../home.ts';
import { hidden } from './ask.ts';
import { callOf, connect, type ConnectionOptions } from './connect.ts';
import { CommandError, lineOf } from './errors.ts';
import { note, say, sayJson, shownLine } from './output.ts';

const MAX_CHARS = 4096;

/** `perch secrets set NAME`: saves a secret, and makes a running gateway reload its secrets. */
export async function setSecret(given: string, options: ConnectionOptions): Promise<void> {
  const name = checkedName(given);
  const value = process.stdin.isTTY ? await hidden(`Value of ${name}: `) : (await text(process.stdin)).replace(/\r?\n$/, '');
  if (value === '') throw new CommandError('The value is empty. Nothing was changed.', 2);
  if (value.length > MAX_CHARS || /\p{Cc}/u.test(value))
    throw new CommandError(`A secret must be a single line of up to ${MAX_CHARS} characters, without control characters`, 2);
  const home = await Home.open({ warn: note });
  const path = join(home.dir, SECRETS_FILE);
  // The keyring is only used for the home's own vault, since names in it do not include the vault.
  if (options.vault === undefined && (await writeKeyring(name, value))) {
    await noteName(home.dir, name, true);
    // Remove an older value from the file, which would take precedence.
    const wasInFile = await changed(path, name, null);
    say(`Saved ${name} in the system keyring${wasInFile ? ' and removed it from secrets.env' : ''}`);
  } else {
    await changed(path, name, value);
    say(options.vault === undefined ? `Saved ${name} in ${path}. No system keyring is available.` : `Saved ${name} in ${path}`);
  }
  if (options.vault === undefined && process.env[name])
    note(`Warning: ${name} is also set in the environment. A gateway started with that value keeps using it.`);
  await reload(options);
}

/** `perch secrets list`. */
export async function listSecrets({ json = false, vault }: { json?: boolean; vault?: string }): Promise<void> {
  const home = await Home.open({ warn: note });
  const { values, problem } = await readEnvFile(join(home.dir, SECRETS_FILE));
  if (problem !== null) note(`Warning: ${join(home.dir, SECRETS_FILE)} is ignored: ${problem}`);
  const kept = vault === undefined ? await readKeyring(await knownNames(home.dir)) : {};
  const secrets = [...new Set([...values.keys(), ...Object.keys(kept)])].sort().map((name) => ({
    name,
    from: vault === undefined && process.env[name] ? 'environment' : values.has(name) ? SECRETS_FILE : 'keyring',
  }));
  if (json) return sayJson({ secrets });
  if (secrets.length === 0) say('No secrets');
  const width = Math.max(0, ...secrets.map(({ name }) => name.length));
  for (const { name, from } of secrets) say(`${name.padEnd(width)}  ${from}`);
}

/** `perch secrets remove NAME`. */
export async function removeSecret(given: string, options: ConnectionOptions): Promise<void> {
  const name = checkedName(given);
  const home = await Home.open({ warn: note });
  const wasInKeyring = options.vault === undefined && (await removeFromKeyring(name));
  const wasInFile = await changed(join(home.dir, SECRETS_FILE), name, null);
  if (!wasInKeyring && !wasInFile) throw new CommandError(`No secret named ${name} in the keyring or ${SECRETS_FILE}`);
  await noteName(home.dir, name, false);
  say(`Removed ${name}`);
  await reload(options);
}

function checkedName(name: string): string {
  if (!secretName.safeParse(name).success)
    throw new CommandError(
      `${JSON.stringify(name)} is not a valid name. Use letters, digits and underscores, and don’t start with a digit.`,
      2,
    );
  if (/^perch_/i.test(name)) throw new CommandError('Names that start with PERCH_ are reserved', 2);
  return name;
}

const changed = (path: string, name: string, value: string | null): Promise<boolean> =>
  changeEnvFile(path, name, value).catch((error: unknown) => {
    throw new CommandError(lineOf(error), 1, { cause: error });
  });

/** If no gateway runs, the secrets are read at the next start. */
async function reload(options: ConnectionOptions): Promise<void> {
  try {
    const client = await connect({ ...options, name: 'perch secrets' });
    try {
      await callOf(client, 'secrets.reload', {}, options.timeout);
      note('Reloaded the secrets of the running gateway');
    } finally {
      client.close();
    }
  } catch (error) {
    note(`No running gateway was updated: ${shownLine(lineOf(error))}`);
  }
}
