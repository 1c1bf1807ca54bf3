import { Argument, type Command } from 'commander';
import { connectionOptions } from '../options.ts';

/** `perch secrets …`: what the configuration refers to as `${NAME}` (docs/decisions/0030). */
export function secretCommands(program: Command): void {
  const secrets = program.command('secrets').description('secrets that the configuration refers to as ${NAME}, on this machine');
  connectionOptions(secrets.command('set'), { timeout: 10_000 })
    .argument('<name>')
    .description('keep a secret in the system’s keyring, or else in secrets.env; asked for unseen, or standard input')
    .action(async (name, options) => (await import('../secrets.ts')).setSecret(name, options));
  secrets
    .command('list')
    .description('names of secrets and where each comes from, never their values')
    .option('--json', 'print JSON')
    .action(async (options) => (await import('../secrets.ts')).listSecrets(options));
  connectionOptions(secrets.command('remove'), { timeout: 10_000 })
    .argument('<name>')
    .description('take a secret out of the keyring and out of secrets.env')
    .action(async (name, options) => (await import('../secrets.ts')).removeSecret(name, options));
  secrets
    .command('keyring')
    .addArgument(new Argument('[state]', 'whether it is to be there').choices(['on', 'off']))
    .description('where the vault’s own key is, and moving it between vault.key and the system’s keyring')
    .action(async (state) => (await import('../vault-key-place.ts')).placeVaultKey(state));
}
