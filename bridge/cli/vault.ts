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
  if (!made) throw new CommandError(`there is a vault ${name} already`);
  say(`The vault ${name} is in ${made.dir}, and its token in ${made.tokenFile}.`);
  note('The gateway serves it from its next start on.');
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
  if (vaults.length === 0) note(`There is no vault beside the one in ${home}: \`${commandLine('vault create <name>')}\` makes one.`);
}

/** `perch vault remove`: for good, and only one that nobody serves. */
export async function deleteVault(name: string, { yes = false }: { yes?: boolean }): Promise<void> {
  const home = await homeDir();
  const dir = await existing(home, name);
  if (await isServed(dir)) throw new CommandError(`a gateway serves the vault ${name}: stop it first, or start it with other --vaults`);
  if (!yes && !canAsk()) throw new CommandError('nobody can be asked here: give --yes', 2);
  if (!yes && !(await isAgreed(`Delete everything in ${dir} for good? [y/N] `))) throw new CommandError('nothing was removed');
  await removeVault(home, name);
  say(`The vault ${name} is gone.`);
}

/** Has a command act on a vault instead of on the home that it lies in. Where the gateway is on another machine, the vault need not be here. */
export async function actOnVault(name: string, { elsewhere }: { elsewhere: boolean }): Promise<void> {
  refuseName(name);
  const home = await homeDir();
  if (elsewhere && !(await hasVault(home, name))) return;
  process.env.PERCH_HOME = await existing(home, name);
}

async function existing(home: string, name: string): Promise<string> {
  refuseName(name);
  if (!(await hasVault(home, name)))
    throw new CommandError(`there is no vault ${name}: \`${commandLine('vault list')}\` says which there are`);
  return vaultFolder(home, name);
}

function refuseName(name: string): void {
  if (!isVaultName(name))
    throw new CommandError('a vault’s name has 1 to 32 small letters and digits, with single hyphens between them', 2);
}
