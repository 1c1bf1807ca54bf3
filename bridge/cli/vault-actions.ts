import { toCommandLine } from '../command-line.ts';
import { Home } from '../home-directory.ts';
import { createVault, hasVault, isServed, isVaultName, removeVault, getVaultFolder, listVaultNames } from '../vault-folders.ts';
import { isInteractive, confirm } from './prompt.ts';
import { CommandError } from './command-error.ts';
import { printNote, printLine, printJson } from './terminal-output.ts';

const getHomeDir = async (): Promise<string> => (await Home.open({ warn: printNote })).dir;

/** `perch vault create`. */
export async function createNamedVault(name: string): Promise<void> {
  createNameError(name);
  const vault = await createVault(await getHomeDir(), name, printNote);
  if (!vault) throw new CommandError(`A vault named ${name} already exists`);
  printLine(`Created the vault ${name} in ${vault.dir}. Its token is in ${vault.tokenFile}.`);
  printNote('Restart the gateway to serve it.');
}

/** `perch vault list`. */
export async function listVaults({ json = false }: { json?: boolean }): Promise<void> {
  const home = await getHomeDir();
  const vaults = await Promise.all(
    (await listVaultNames(home)).map(async (name) => {
      const dir = getVaultFolder(home, name);
      return { name, dir, served: await isServed(dir) };
    }),
  );
  if (json) return printJson({ vaults });
  for (const { name, dir, served } of vaults) printLine(`${name}  ${dir}${served ? '  served' : ''}`);
  if (vaults.length === 0) printNote(`No additional vaults in ${home}. Create one with \`${toCommandLine('vault create <name>')}\`.`);
}

/** `perch vault remove`: deletes a vault permanently, unless it is being served. */
export async function deleteVault(name: string, { yes = false }: { yes?: boolean }): Promise<void> {
  const home = await getHomeDir();
  const dir = await requireVault(home, name);
  if (await isServed(dir))
    throw new CommandError(`The vault ${name} is served by a gateway. Stop the gateway, or start it without this vault (--vaults).`);
  if (!yes && !isInteractive()) throw new CommandError('Can’t ask for confirmation here. Use --yes.', 2);
  if (!yes && !(await confirm(`Permanently delete everything in ${dir}? [y/N] `)))
    throw new CommandError('Cancelled. Nothing was deleted.');
  await removeVault(home, name);
  printLine(`Deleted the vault ${name}`);
}

/**
 * Makes a command act on a vault instead of the home that contains it. If the gateway is on another machine, the vault need not exist here.
 */
export async function useVault(name: string, { elsewhere }: { elsewhere: boolean }): Promise<void> {
  createNameError(name);
  const home = await getHomeDir();
  if (elsewhere && !(await hasVault(home, name))) return;
  process.env.PERCH_HOME = await requireVault(home, name);
}

async function requireVault(home: string, name: string): Promise<string> {
  createNameError(name);
  if (!(await hasVault(home, name))) throw new CommandError(`No vault named ${name}. List vaults with \`${toCommandLine('vault list')}\`.`);
  return getVaultFolder(home, name);
}

function createNameError(name: string): void {
  if (!isVaultName(name))
    throw new CommandError('A vault name must be 1 to 32 lowercase letters and digits, separated by single hyphens', 2);
}
