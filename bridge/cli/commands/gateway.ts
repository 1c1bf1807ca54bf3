import { type Command, Option } from 'commander';
import { clusterOptions } from './cluster.ts';
import { bindOption, connectionOptions, hostOption, portOption, wholeNumber } from '../options.ts';
import { discoverCommand } from './discover.ts';
import { serviceCommands } from './service.ts';

/** `perch gateway …`. */
export function gatewayCommands(program: Command): void {
  const gateway = program.command('gateway').description('the gateway');
  clusterOptions(gateway.command('run', { isDefault: true }))
    .description('serve until a signal; prints the app’s address, the WebSocket address and the API')
    .addOption(portOption({ free: true }))
    .addOption(bindOption())
    .addOption(hostOption())
    .option('--auth-token <token>', 'the owner’s token (shows in the process list: PERCH_TOKEN or the token file are better)')
    .option('--expose', 'allow an address that is not loopback: the API alone, without the app')
    .option('--advertise', 'tell the network by multicast DNS that the gateway is here; with --expose alone')
    .addOption(
      new Option('--vaults <names>', 'which vaults to serve beside your own, with commas between them (default: all)').argParser((text) =>
        text.split(',').filter((name) => name !== ''),
      ),
    )
    .addOption(
      new Option('--max-browsers <number>', 'managed Chromiums at a time, for several vaults (default: by free memory)').argParser((text) =>
        wholeNumber(text, 1, 100),
      ),
    )
    .action(async (options) => (await import('../gateway-run.ts')).runGateway(options));
  discoverCommand(gateway);
  serviceCommands(gateway);

  connectionOptions(gateway.command('status'), { timeout: 10_000 })
    .description('tell whether the service is installed and runs, and whether the gateway answers')
    .option('--no-probe', 'do not ask the gateway itself')
    .option('--deep', 'also what it runs on, and which parts are there')
    .option('--json', 'print JSON')
    .action(async (options) => (await import('../status.ts')).printStatus(options));
  connectionOptions(gateway.command('probe'), { timeout: 10_000 })
    .description('try step by step whether the gateway can be reached: HTTP, WebSocket, a call')
    .option('--json', 'print JSON')
    .action(async (options) => (await import('../status.ts')).printProbe(options));
  connectionOptions(gateway.command('call'), { timeout: 30_000 })
    .argument('<method>')
    .description('call any method of the gateway’s protocol, and print what it answers')
    .option('--params <json>', 'a JSON object, @file, or - for standard input (default: {})')
    .option('--json', 'print JSON on one line')
    .action(async (method, options) => (await import('../call.ts')).callMethod(method, options));
}
