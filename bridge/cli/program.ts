import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { packageVersion } from '../package-root.ts';
import { CommandError } from './errors.ts';

const DEFAULT_PORT = 7333;

/** The command line; each command's own code is loaded when it runs. Usage errors are thrown as CommandError with exit code 2. */
export function makeProgram(): Command {
  const program = new Command('perch')
    .description('Your agents, memory and tools in a browser tab, with a real API on localhost.')
    .version(packageVersion(), '-V, --version');

  const gateway = program.command('gateway').description('the gateway');
  gateway
    .command('run', { isDefault: true })
    .description('serve until a signal; prints the app’s address, the WebSocket address and the API')
    .addOption(portOption())
    .option('--bind <address>', 'address to listen on', '127.0.0.1')
    .addOption(
      new Option('--host <kind>', 'who hosts: the managed Chromium, or the worker of an open tab')
        .choices(['auto', 'tab', 'headless'])
        .default('auto'),
    )
    .option('--auth-token <token>', 'the owner’s token (shows in the process list: PERCH_TOKEN or the token file are better)')
    .option('--expose', 'allow an address that is not loopback: the API alone, without the app')
    .action(async (options) => (await import('./gateway-run.ts')).runGateway(options));

  program
    .command('open')
    .description('print a new link to the running gateway’s app')
    .addOption(portOption())
    .option('--auth-token <token>', 'the owner’s token, where the gateway was given one')
    .action(async (options) => (await import('./open.ts')).openLink(options));

  for (const command of [program, gateway, ...program.commands, ...gateway.commands]) {
    command
      .exitOverride()
      .showSuggestionAfterError(false)
      .allowExcessArguments(false)
      .configureOutput({ writeErr: () => {} });
  }
  return program;
}

function portOption(): Option {
  return new Option('--port <number>', 'port; 0 takes a free one').default(DEFAULT_PORT).argParser((text) => {
    const port = Number(text);
    if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new InvalidArgumentError('It must be 0 to 65535.');
    return port;
  });
}

/** Commander's own end of a parse: undefined for help and version, which are no errors. */
export function usageError(error: unknown): CommandError | undefined {
  if (!(error instanceof CommanderError)) return undefined;
  if (error.exitCode === 0) return undefined;
  if (error.code === 'commander.help') return new CommandError('a command is missing; `perch --help` lists them', 2);
  return new CommandError(error.message.replace(/^error: /, ''), 2);
}
