import { type Command, InvalidArgumentError, Option } from 'commander';

const MAX_MS = 60_000;

/** `perch gateway discover`. */
export function discoverCommand(gateway: Command): void {
  gateway
    .command('discover')
    .description('look for gateways: on this machine, and those that are advertised on its network')
    .addOption(
      new Option('--timeout <milliseconds>', 'how long').default(2000).argParser((text) => {
        const ms = Number(text);
        if (!/^\d{1,5}$/.test(text) || ms < 1 || ms > MAX_MS) throw new InvalidArgumentError(`It must be 1 to ${MAX_MS}.`);
        return ms;
      }),
    )
    .option('--scan', 'ask each address of this machine’s private networks too (the last part of the address, 1 to 254)')
    .option('--json', 'print JSON')
    .action(async (options) => (await import('../discover.ts')).printDiscovered(options));
}
