import { type Command, Option } from 'commander';
import { addExamples } from '../examples.ts';
import { addGatewayCommand } from '../cli-options.ts';

/** `perch keys …`: API keys of the running gateway. */
export function addKeyCommands(program: Command): void {
  const group = program.command('keys').description('Manage API keys for programs');
  const add = (name: string, description: string): Command => addGatewayCommand(group, name, description);
  const scopeOption = (): Option => new Option('--scope <scope...>', 'Scopes of the key (see `keys scopes`)');

  add('list', 'List API keys and their scopes').action(async (options) => (await import('../keys-actions.ts')).listKeys(options));
  const create = add('create', 'Create an API key and print it')
    .argument('<name>', 'Name of the program')
    .addOption(scopeOption().default(['v1']))
    .action(async (name, options) => (await import('../keys-actions.ts')).createKey(name, options));
  addExamples(create, ['keys create "My script"', 'keys create Notes --scope memory files']);
  add('update', 'Change the scopes of an API key')
    .argument('<key>', 'ID, name or last characters')
    .addOption(scopeOption().makeOptionMandatory())
    .action(async (key, options) => (await import('../keys-actions.ts')).updateKey(key, options));
  add('revoke', 'Revoke an API key')
    .argument('<key>', 'ID, name or last characters')
    .action(async (key, options) => (await import('../keys-actions.ts')).revokeKey(key, options));
  group
    .command('scopes')
    .description('List the scopes that a key can have')
    .action(async () => {
      const { SCOPE_DESCRIPTIONS } = await import('../keys-actions.ts');
      for (const [scope, meaning] of Object.entries(SCOPE_DESCRIPTIONS)) process.stdout.write(`${scope.padEnd(14)}${meaning}\n`);
    });
}
