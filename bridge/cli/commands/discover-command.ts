import { type Command, InvalidArgumentError, Option } from 'commander';

const MAX_TIMEOUT_MS = 60_000;

/** `perch gateway discover`. */
export function addDiscoverCommand(gateway: Command): void {
  gateway
    .command('discover')
    .description('Find gateways on this computer and the local network')
    .addOption(
      new Option('--timeout <milliseconds>', 'Milliseconds to search').default(2000).argParser((text) => {
        const ms = Number(text);
        if (!/^\d{1,5}$/.test(text) || ms < 1 || ms > MAX_TIMEOUT_MS)
          throw new InvalidArgumentError(`Must be between 1 and ${MAX_TIMEOUT_MS}.`);
        return ms;
      }),
    )
    .option('--scan', 'Also probe every address of this computer’s private networks (x.x.x.1 to x.x.x.254)')
    .option('--json', 'Print JSON')
    .action(async (options) => (await import('../discover-actions.ts')).printDiscovered(options));
}
