import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { secretName } from '#shared/ports/secrets-port.ts';
import { updateEnvFile, readEnvFile } from '../capabilities/secrets/env-file.ts';
import { readKeyring, removeFromKeyring, writeKeyring } from '../capabilities/secrets/keyring.ts';
import { readKeyringNames, updateKeyringName } from '../capabilities/secrets/keyring-names.ts';
import { SECRETS_FILE } from '../capabilities/secrets/secrets-handlers.ts';
import { Home } from '../home-directory.ts';
import { promptHidden } from './prompt.ts';
import { callGateway, connectGateway, type ConnectionOptions } from './connect-gateway.ts';
import { CommandError, toErrorLine } from './command-error.ts';
import { printNote, printLine, printJson, escapeToOneLine } from './terminal-output.ts';

const MAX_SECRET_CHARS = 4096;

/** `perch secrets set NAME`: saves a secret, and makes a running gateway reload its secrets. */
export async function setSecret(rawName: string, options: ConnectionOptions): Promise<void> {
  const name = parseSecretName(rawName);
  const value = process.stdin.isTTY ? await promptHidden(`Value of ${name}: `) : (await text(process.stdin)).replace(/\r?\n$/, '');
  if (value === '') throw new CommandError('The value is empty. Nothing was changed.', 2);
  if (value.length > MAX_SECRET_CHARS || /\p{Cc}/u.test(value))
    throw new CommandError(`A secret must be a single line of up to ${MAX_SECRET_CHARS} characters, without control characters`, 2);
  const home = await Home.open({ warn: printNote });
  const path = join(home.dir, SECRETS_FILE);
  // The keyring is only used for the home's own vault, since names in it do not include the vault.
  if (options.vault === undefined && (await writeKeyring(name, value))) {
    await updateKeyringName(home.dir, name, true);
    // Remove an older value from the file, which would take precedence.
    const wasInFile = await updateStoredSecret(path, name, null);
    printLine(`Saved ${name} in the system keyring${wasInFile ? ' and removed it from secrets.env' : ''}`);
  } else {
    await updateStoredSecret(path, name, value);
    printLine(options.vault === undefined ? `Saved ${name} in ${path}. No system keyring is available.` : `Saved ${name} in ${path}`);
  }
  if (options.vault === undefined && process.env[name])
    printNote(`Warning: ${name} is also set in the environment. A gateway started with that value keeps using it.`);
  await reloadSecrets(options);
}

/** `perch secrets list`. */
export async function listSecrets({ json = false, vault }: { json?: boolean; vault?: string }): Promise<void> {
  const home = await Home.open({ warn: printNote });
  const { values, problem } = await readEnvFile(join(home.dir, SECRETS_FILE));
  if (problem !== null) printNote(`Warning: ${join(home.dir, SECRETS_FILE)} is ignored: ${problem}`);
  const keyring = vault === undefined ? await readKeyring(await readKeyringNames(home.dir)) : {};
  const secrets = [...new Set([...values.keys(), ...Object.keys(keyring)])].sort().map((name) => ({
    name,
    from: vault === undefined && process.env[name] ? 'environment' : values.has(name) ? SECRETS_FILE : 'keyring',
  }));
  if (json) return printJson({ secrets });
  if (secrets.length === 0) printLine('No secrets');
  const width = Math.max(0, ...secrets.map(({ name }) => name.length));
  for (const { name, from } of secrets) printLine(`${name.padEnd(width)}  ${from}`);
}

/** `perch secrets remove NAME`. */
export async function removeSecret(rawName: string, options: ConnectionOptions): Promise<void> {
  const name = parseSecretName(rawName);
  const home = await Home.open({ warn: printNote });
  const wasInKeyring = options.vault === undefined && (await removeFromKeyring(name));
  const wasInFile = await updateStoredSecret(join(home.dir, SECRETS_FILE), name, null);
  if (!wasInKeyring && !wasInFile) throw new CommandError(`No secret named ${name} in the keyring or ${SECRETS_FILE}`);
  await updateKeyringName(home.dir, name, false);
  printLine(`Removed ${name}`);
  await reloadSecrets(options);
}

function parseSecretName(name: string): string {
  if (!secretName.safeParse(name).success)
    throw new CommandError(
      `${JSON.stringify(name)} is not a valid name. Use letters, digits and underscores, and don’t start with a digit.`,
      2,
    );
  if (/^perch_/i.test(name)) throw new CommandError('Names that start with PERCH_ are reserved', 2);
  return name;
}

const updateStoredSecret = (path: string, name: string, value: string | null): Promise<boolean> =>
  updateEnvFile(path, name, value).catch((error: unknown) => {
    throw new CommandError(toErrorLine(error), 1, { cause: error });
  });

/** If no gateway runs, the secrets are read at the next start. */
async function reloadSecrets(options: ConnectionOptions): Promise<void> {
  try {
    const client = await connectGateway({ ...options, name: 'perch secrets' });
    try {
      await callGateway(client, 'secrets.reload', {}, options.timeout);
      printNote('Reloaded the secrets of the running gateway');
    } finally {
      client.close();
    }
  } catch (error) {
    printNote(`No running gateway was updated: ${escapeToOneLine(toErrorLine(error))}`);
  }
}
