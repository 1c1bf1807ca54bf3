import { commandLine } from '../command-line.ts';
import { Home } from '../home.ts';
import { createVault, hasVault, isServed, isVaultName, removeVault, vaultFolder, vaultNames } from '../vault-folders.ts';
import { canAsk, isAgreed } from './ask.ts';
import { CommandError } from './errors.ts';
import { note, say, sayJson } from './output.ts';

const homeDir = async (): Promise<string> => (await Home.open({ warn: note })).dir;

/** `perch vault create`. */
export async function makeVault(name: string): Promise<void> {
  refuseName(name);
  const made = await createVault(await homeDir(), name, note);
  if (!made) throw new CommandError(`A vault named ${name} already exists`);
  say(`Created the vault ${name} in ${made.dir}. Its token is in ${made.tokenFile}.`);
  note('Restart the gateway to serve it.');
}

/** `perch vault list`. */
export async function listVaults({ json = false }: { json?: boolean }): Promise<void> {
  const home = await homeDir();
  const vaults = await Promise.all(
    (await vaultNames(home)).map(async (name) => {
      const dir = vaultFolder(home, name);
      return { name, dir, served: await isServed(dir) };
    }),
  );
  if (json) return sayJson({ vaults });
  for (const { name, dir, served } of vaults) say(`${name}  ${dir}${served ? '  served' : ''}`);
  if (vaults.length === 0) note(`No additional vaults in ${home}. Create one with \`${commandLine('vault create <name>')}\`.`);
}

/** `perch vault remove`: deletes a vault permanently, unless it is being served. */
export async function deleteVault(name: string, { yes = false }: { yes?: boolean }): Promise<void> {
  const home = await homeDir();
  const dir = await existing(home, name);
  if (await isServed(dir))
    throw new CommandError(`The vault ${name} is served by a gateway. Stop the gateway, or start it without this vault (--vaults).`);
  if (!yes && !canAsk()) throw new CommandError('Can’t ask for confirmation here. Use --yes.', 2);
  if (!yes && !(await isAgreed(`Permanently delete everything in ${dir}? [y/N] `)))
    throw new CommandError('Cancelled. Nothing was deleted.');
  await removeVault(home, name);
  say(`Deleted the vault ${name}`);
}

/**
 * Makes a command act on a vault instead of the home that contains it. If the gateway is on another machine, the vault need not exist here.
 */
export async function actOnVault(name: string, { elsewhere }: { elsewhere: boolean }): Promise<void> {
  refuseName(name);
  const home = await homeDir();
  if (elsewhere && !(await hasVault(home, name))) return;
  process.env.PERCH_HOME = await existing(home, name);
}

async function existing(home: string, name: string): Promise<string> {
  refuseName(name);
  if (!(await hasVault(home, name))) throw new CommandError(`No vault named ${name}. List vaults with \`${commandLine('vault list')}\`.`);
  return vaultFolder(home, name);
}

function refuseName(name: string): void {
  if (!isVaultName(name))
    throw new CommandError('A vault name must be 1 to 32 lowercase letters and digits, separated by single hyphens', 2);
}
