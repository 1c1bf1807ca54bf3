import { Command, CommanderError } from 'commander';
import { packageVersion } from '../package-root.ts';
import { activeMemoryCommands } from './commands/active-memory.ts';
import { backupCommands } from './commands/backup.ts';
import { channelCommands } from './commands/channels.ts';
import { completionCommands } from './commands/completion.ts';
import { gatewayCommands } from './commands/gateway.ts';
import { importCommand } from './commands/importing.ts';
import { keyCommands } from './commands/keys.ts';
import { mcpCommands } from './commands/mcp.ts';
import { modelCommands } from './commands/models.ts';
import { secretCommands } from './commands/secrets.ts';
import { runningCommands } from './commands/running.ts';
import { syncCommands } from './commands/sync.ts';
import { talkingCommands } from './commands/talking.ts';
import { vaultCommands, vaultOption } from './commands/vault.ts';
import { CommandError } from './errors.ts';
import { missingCommand } from './unknown-command.ts';

/** The command line. Each command's own code is loaded when it runs. Usage errors are thrown as CommandError with exit code 2. */
export function makeProgram(): Command {
  const program = new Command('perch')
    .description('Your agents, memory and tools in a browser tab, with a real API on localhost.')
    .version(packageVersion(), '-V, --version', 'Show the version')
    .helpOption('-h, --help', 'Show help')
    .helpCommand('help [command]', 'Show help for a command')
    // A group's own options end where one of its commands begins: both may have an option with the same name.
    .enablePositionalOptions();
  const groups = [
    ...[gatewayCommands, talkingCommands, importCommand, runningCommands, modelCommands, mcpCommands, activeMemoryCommands, secretCommands],
    ...[keyCommands, channelCommands, backupCommands, syncCommands, vaultCommands, completionCommands],
  ];
  for (const add of groups) add(program);
  vaultOption(program);
  for (const command of withAll(program)) {
    command
      .exitOverride()
      .showSuggestionAfterError(false)
      .allowExcessArguments(false)
      .configureOutput({ writeErr: () => {} });
  }
  return program;
}

const withAll = (command: Command): Command[] => [command, ...command.commands.flatMap(withAll)];

/** Converts commander's error for these words; undefined for help and version, which are not errors. */
export function usageError(error: unknown, words: readonly string[]): CommandError | undefined {
  if (!(error instanceof CommanderError)) return undefined;
  if (error.exitCode === 0) return undefined;
  if (error.code === 'commander.help') return new CommandError(missingCommand(words), 2);
  const message = error.message.replace(/^error: /, '');
  return new CommandError(message.charAt(0).toUpperCase() + message.slice(1), 2);
}
