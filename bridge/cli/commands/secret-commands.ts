import { Argument, type Command } from 'commander';
import { addExamples } from '../examples.ts';
import { addConnectionOptions } from '../cli-options.ts';

/** `perch secrets …`: secrets that the configuration refers to as `${NAME}` (docs/decisions/0030). */
export function addSecretCommands(program: Command): void {
  const secrets = program.command('secrets').description('Manage secrets that the settings refer to as ${NAME}');
  const set = addConnectionOptions(secrets.command('set'), { timeout: 10_000 })
    .argument('<name>')
    .description('Save a secret in the system keyring or secrets.env. Prompts for it, or reads standard input')
    .action(async (name, options) => (await import('../secrets-actions.ts')).setSecret(name, options));
  addExamples(set, ['secrets set OPENAI_API_KEY', 'secrets set OPENAI_API_KEY < key.txt']);
  secrets
    .command('list')
    .description('List secrets and their sources. Values are never shown')
    .option('--json', 'Print JSON')
    .action(async (options) => (await import('../secrets-actions.ts')).listSecrets(options));
  addConnectionOptions(secrets.command('remove'), { timeout: 10_000 })
    .argument('<name>')
    .description('Remove a secret from the keyring and secrets.env')
    .action(async (name, options) => (await import('../secrets-actions.ts')).removeSecret(name, options));
  secrets
    .command('keyring')
    .addArgument(new Argument('[state]', 'Store the vault key in the system keyring').choices(['on', 'off']))
    .description('Show or change where the vault key is stored')
    .action(async (state) => (await import('../vault-key-location.ts')).moveVaultKey(state));
}
