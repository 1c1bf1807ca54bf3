import type { Command } from 'commander';

/** `perch vault …`: vaults in addition to the home's own, each with separate data (docs/decisions/0076). */
export function addVaultCommands(program: Command): void {
  const vault = program.command('vault').description('Manage additional vaults of the gateway');
  vault
    .command('create')
    .argument('<name>')
    .description('Create a vault. Restart the gateway to serve it')
    .action(async (name) => (await import('../vault-actions.ts')).createNamedVault(name));
  vault
    .command('list')
    .description('List vaults and their folders')
    .option('--json', 'Print JSON')
    .action(async (options) => (await import('../vault-actions.ts')).listVaults(options));
  vault
    .command('remove')
    .argument('<name>')
    .description('Permanently delete a vault and all its data')
    .option('--yes', 'Skip the confirmation')
    .action(async (name, options) => (await import('../vault-actions.ts')).deleteVault(name, options));
}

/** Groups and commands that apply to all vaults of a home. */
const ALL_VAULTS_COMMANDS = ['gateway run', 'gateway install', 'gateway uninstall', 'gateway discover', 'vault', 'completion'];

/** Adds `--vault` to every command that acts on a home or a running gateway. */
export function addVaultOption(program: Command): void {
  for (const { path, command } of findLeafCommands(program, []))
    if (!ALL_VAULTS_COMMANDS.some((each) => path === each || path.startsWith(`${each} `)))
      command.option('--vault <name>', 'Use an additional vault, as shown by `vault list`');
  program.hook('preAction', async (_program, command) => {
    const { vault, url }: { vault?: string; url?: string } = command.opts();
    if (vault !== undefined) await (await import('../vault-actions.ts')).useVault(vault, { elsewhere: url !== undefined });
  });
}

function findLeafCommands(command: Command, words: readonly string[]): { path: string; command: Command }[] {
  if (command.commands.length === 0) return [{ path: words.join(' '), command }];
  return command.commands.flatMap((child) => findLeafCommands(child, [...words, child.name()]));
}
