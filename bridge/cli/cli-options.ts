import { type Command, InvalidArgumentError, Option } from 'commander';
import { DEFAULT_PORT } from '#shared/link/default-port.ts';

/** `free`: whether 0 is allowed, for any free port. */
export function createPortOption({ free }: { free: boolean }): Option {
  const least = free ? 0 : 1;
  return new Option('--port <number>', free ? 'Port to listen on (0 picks a free port)' : 'Port of the gateway')
    .default(DEFAULT_PORT)
    .argParser((text) => {
      const port = Number(text);
      if (!/^\d{1,5}$/.test(text) || port < least || port > 65_535) throw new InvalidArgumentError(`Must be between ${least} and 65535.`);
      return port;
    });
}

export const createBindOption = (): Option => new Option('--bind <address>', 'Address to listen on').default('127.0.0.1');

export const createHostOption = (): Option =>
  new Option('--host <kind>', 'Run the gateway in an open browser tab (tab), the background browser (headless) or either (auto)')
    .choices(['auto', 'tab', 'headless'])
    .default('auto');

/** Adds a command that calls a gateway and can print JSON. `timeout`: in milliseconds. */
export const addGatewayCommand = (group: Command, name: string, description: string, timeout = 30_000): Command =>
  addConnectionOptions(group.command(name), { timeout })
    .description(description)
    .addOption(createAuthTokenOption())
    .option('--json', 'Print JSON');

/** Adds options to reach a gateway: `--url` or `--port`, `--token` or `--password`, `--timeout` in milliseconds. */
export function addConnectionOptions(command: Command, { timeout, password = true }: { timeout: number; password?: boolean }): Command {
  command
    .addOption(new Option('--url <address>', 'Gateway address: ws, wss, http or https (default: this computer)').conflicts('port'))
    .addOption(createPortOption({ free: false }))
    .addOption(new Option('--token <token>', 'Gateway token (required for another computer)').conflicts('password'));
  if (password) command.option('--password <password>', 'Gateway password, if set. Visible in the process list: prefer PERCH_PASSWORD');
  return command.addOption(createTimeoutOption(timeout));
}

/** Milliseconds, up to an hour. */
function createTimeoutOption(timeout: number): Option {
  return new Option('--timeout <ms>', 'Milliseconds to wait for the gateway')
    .default(timeout)
    .argParser((text) => parseInteger(text, 1, 3_600_000));
}

/** Parses an integer from `min` to `max`. Throws commander's error for other texts. */
export function parseInteger(text: string, min: number, max: number): number {
  const number = Number(text);
  if (!/^\d{1,15}$/.test(text) || number < min || number > max) throw new InvalidArgumentError(`Must be between ${min} and ${max}.`);
  return number;
}

/** An earlier name of `--token`. */
export const createAuthTokenOption = (): Option => new Option('--auth-token <token>', 'Same as --token').conflicts(['token', 'password']);
