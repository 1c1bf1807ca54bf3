import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { DEFAULT_PORT } from '#shared/link/default-port.ts';
import { commandLine } from '../command-line.ts';
import { packageVersion } from '../package-root.ts';
import { CommandError } from './errors.ts';

/** The command line; each command's own code is loaded when it runs. Usage errors are thrown as CommandError with exit code 2. */
export function makeProgram(): Command {
  const program = new Command('perch')
    .description('Your agents, memory and tools in a browser tab, with a real API on localhost.')
    .version(packageVersion(), '-V, --version');

  const gateway = program.command('gateway').description('the gateway');
  gateway
    .command('run', { isDefault: true })
    .description('serve until a signal; prints the app’s address, the WebSocket address and the API')
    .addOption(portOption({ free: true }))
    .option('--bind <address>', 'address to listen on', '127.0.0.1')
    .addOption(
      new Option('--host <kind>', 'who serves: an open tab, else the managed Chromium (auto), or one of them alone')
        .choices(['auto', 'tab', 'headless'])
        .default('auto'),
    )
    .option('--auth-token <token>', 'the owner’s token (shows in the process list: PERCH_TOKEN or the token file are better)')
    .option('--expose', 'allow an address that is not loopback: the API alone, without the app')
    .action(async (options) => (await import('./gateway-run.ts')).runGateway(options));

  program
    .command('open')
    .description('print a new link to the running gateway’s app')
    .addOption(portOption({ free: false }))
    .option('--auth-token <token>', 'the owner’s token, where the gateway was given one')
    .action(async (options) => (await import('./open.ts')).openLink(options));

  program
    .command('doctor')
    .description('look for faults in the running gateway, and say what to do about each')
    .addOption(portOption({ free: false }))
    .option('--auth-token <token>', 'the owner’s token, where the gateway was given one')
    .option('--password <password>', 'the owner’s password, where one is set (shows in the process list: PERCH_PASSWORD is better)')
    .option('--json', 'print JSON')
    .action(async (options) => (await import('./doctor.ts')).runDoctor(options));

  program
    .command('token')
    .description('say where the owner’s token is; set a password as a second way in for people')
    .option('--set-password', 'asked for unseen, or the one line of standard input')
    .option('--clear-password', 'nobody is let in by a password any more')
    .action(async (options) => (await import('./password.ts')).manageToken(options));

  const backup = program.command('backup').description('copies of everything on this disk, made and brought back without a browser');
  backup
    .command('export')
    .description('write a backup, also while the gateway runs')
    .option('--output <file>', 'where to; default: a new file under backups/ in the home directory')
    .option('--force', 'replace a file that is there')
    .option('--secrets', 'with the providers’ keys, sealed under a passphrase')
    .option('--passphrase-file <file>', 'the passphrase; without it, it is asked for')
    .option('--json', 'print JSON')
    .action(async (options) => (await import('./backup.ts')).exportBackup(options));
  backup
    .command('list')
    .description('list the backups in the home directory, and check each')
    .option('--json', 'print JSON')
    .action(async (options) => (await import('./backup.ts')).printBackups(options));
  backup
    .command('restore')
    .argument('<file>')
    .description('bring back what is missing or differs, and keep what was made since; shows it and asks first')
    .option('--replace', 'delete what is not in the backup, but for keys')
    .option('--dry-run', 'only show what it would do')
    .option('--yes', 'do not ask')
    .option('--passphrase-file <file>', 'the passphrase of the keys in the backup; without it, it is asked for')
    .addOption(maxSizeOption())
    .option('--json', 'print JSON')
    .action(async (file, options) => (await import('./backup.ts')).restoreBackup(file, options));

  for (const command of [program, gateway, backup, ...program.commands, ...gateway.commands, ...backup.commands]) {
    command
      .exitOverride()
      .showSuggestionAfterError(false)
      .allowExcessArguments(false)
      .configureOutput({ writeErr: () => {} });
  }
  return program;
}

/** `free`: 0 may stand for any that is. */
function portOption({ free }: { free: boolean }): Option {
  const least = free ? 0 : 1;
  return new Option('--port <number>', free ? 'port; 0 takes a free one' : 'the gateway’s port').default(DEFAULT_PORT).argParser((text) => {
    const port = Number(text);
    if (!/^\d{1,5}$/.test(text) || port < least || port > 65_535) throw new InvalidArgumentError(`It must be ${least} to 65535.`);
    return port;
  });
}

/** In megabytes; parsed to bytes. */
function maxSizeOption(): Option {
  return new Option('--max-size <megabytes>', 'what the backup may unpack to (default: 256)').argParser((text) => {
    if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It must be 1 to 999999.');
    return Number(text) * 1024 * 1024;
  });
}

/** Commander's own end of a parse: undefined for help and version, which are no errors. */
export function usageError(error: unknown): CommandError | undefined {
  if (!(error instanceof CommanderError)) return undefined;
  if (error.exitCode === 0) return undefined;
  if (error.code === 'commander.help') return new CommandError(`a command is missing; \`${commandLine('--help')}\` lists them`, 2);
  return new CommandError(error.message.replace(/^error: /, ''), 2);
}
