import { type Command, InvalidArgumentError, Option } from 'commander';
import { DEFAULT_PORT } from '#shared/link/default-port.ts';

/** `free`: 0 may stand for any that is. */
export function portOption({ free }: { free: boolean }): Option {
  const least = free ? 0 : 1;
  return new Option('--port <number>', free ? 'port; 0 takes a free one' : 'the gateway’s port').default(DEFAULT_PORT).argParser((text) => {
    const port = Number(text);
    if (!/^\d{1,5}$/.test(text) || port < least || port > 65_535) throw new InvalidArgumentError(`It must be ${least} to 65535.`);
    return port;
  });
}

export const bindOption = (): Option => new Option('--bind <address>', 'address to listen on').default('127.0.0.1');

export const hostOption = (): Option =>
  new Option('--host <kind>', 'who serves: an open tab, else the managed Chromium (auto), or one of them alone')
    .choices(['auto', 'tab', 'headless'])
    .default('auto');
/** How a command reaches a gateway: `--url` or `--port`, `--token` or `--password`, `--timeout` in milliseconds. */
export function connectionOptions(command: Command, { timeout, password = true }: { timeout: number; password?: boolean }): Command {
  command
    .addOption(new Option('--url <address>', 'the gateway’s address (ws, wss, http, https); default: this machine’s').conflicts('port'))
    .addOption(portOption({ free: false }))
    .addOption(new Option('--token <token>', 'the owner’s token; must be given for a gateway on another machine').conflicts('password'));
  if (password)
    command.option('--password <password>', 'the owner’s password, where one is set (shows in the process list: PERCH_PASSWORD is better)');
  return command.addOption(timeoutOption(timeout));
}

/** Milliseconds, up to an hour. */
export function timeoutOption(timeout: number): Option {
  return new Option('--timeout <ms>', 'milliseconds to wait for the gateway')
    .default(timeout)
    .argParser((text) => wholeNumber(text, 1, 3_600_000));
}

/** Throws, as commander wants it, where a text is no whole number from `least` to `most`. */
export function wholeNumber(text: string, least: number, most: number): number {
  const number = Number(text);
  if (!/^\d{1,15}$/.test(text) || number < least || number > most) throw new InvalidArgumentError(`It must be ${least} to ${most}.`);
  return number;
}

/** The name of `--token` before it had one name everywhere. */
export const authTokenOption = (): Option =>
  new Option('--auth-token <token>', 'the same as --token, where the gateway was given one').conflicts(['token', 'password']);
