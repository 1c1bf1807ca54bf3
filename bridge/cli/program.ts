import { Command, CommanderError } from 'commander';
import { getPackageVersion } from '../package-root.ts';
import { addActiveMemoryCommands } from './commands/active-memory-commands.ts';
import { addBackupCommands } from './commands/backup-commands.ts';
import { addChannelCommands } from './commands/channel-commands.ts';
import { addCollectionCommands } from './commands/collection-commands.ts';
import { addCompletionCommands } from './commands/completion-commands.ts';
import { addGatewayCommands } from './commands/gateway-commands.ts';
import { addHookCommands } from './commands/hook-commands.ts';
import { addImportCommand } from './commands/import-command.ts';
import { addKeyCommands } from './commands/key-commands.ts';
import { addMcpCommands } from './commands/mcp-commands.ts';
import { addModelCommands } from './commands/model-commands.ts';
import { addSecretCommands } from './commands/secret-commands.ts';
import { addRunningGatewayCommands } from './commands/running-gateway-commands.ts';
import { addSyncCommands } from './commands/sync-commands.ts';
import { addChatCommands } from './commands/chat-commands.ts';
import { addVaultCommands, addVaultOption } from './commands/vault-commands.ts';
import { CommandError } from './command-error.ts';
import { describeMissingCommand } from './unknown-command.ts';

/** The command line. Each command's own code is loaded when it runs. Usage errors are thrown as CommandError with exit code 2. */
export function createProgram(): Command {
  const program = new Command('perch')
    .description('Your agents, memory and tools in a browser tab, with a real API on localhost.')
    .version(getPackageVersion(), '-V, --version', 'Show the version')
    .helpOption('-h, --help', 'Show help')
    .helpCommand('help [command]', 'Show help for a command')
    // A group's own options end where one of its commands begins: both may have an option with the same name.
    .enablePositionalOptions();
  const groups = [
    ...[
      addGatewayCommands,
      addChatCommands,
      addImportCommand,
      addRunningGatewayCommands,
      addModelCommands,
      addMcpCommands,
      addActiveMemoryCommands,
      addCollectionCommands,
      addSecretCommands,
    ],
    ...[addKeyCommands, addChannelCommands, addHookCommands, addBackupCommands, addSyncCommands, addVaultCommands, addCompletionCommands],
  ];
  for (const add of groups) add(program);
  addVaultOption(program);
  for (const command of addAllCommands(program)) {
    command
      .exitOverride()
      .showSuggestionAfterError(false)
      .allowExcessArguments(false)
      .configureOutput({ writeErr: () => {} });
  }
  return program;
}

const addAllCommands = (command: Command): Command[] => [command, ...command.commands.flatMap(addAllCommands)];

/** Converts commander's error for these words; undefined for help and version, which are not errors. */
export function toUsageError(error: unknown, words: readonly string[]): CommandError | undefined {
  if (!(error instanceof CommanderError)) return undefined;
  if (error.exitCode === 0) return undefined;
  if (error.code === 'commander.help') return new CommandError(describeMissingCommand(words), 2);
  const message = error.message.replace(/^error: /, '');
  return new CommandError(message.charAt(0).toUpperCase() + message.slice(1), 2);
}
