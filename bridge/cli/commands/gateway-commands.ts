import { type Command, Option } from 'commander';
import { addExamples } from '../examples.ts';
import { addClusterOptions } from './cluster-options.ts';
import { createBindOption, addConnectionOptions, createHostOption, createPortOption, parseInteger } from '../cli-options.ts';
import { addDiscoverCommand } from './discover-command.ts';
import { addServiceCommands } from './service-commands.ts';

/** `perch gateway …`. */
export function addGatewayCommands(program: Command): void {
  const gateway = program.command('gateway').description('Run and manage the gateway');
  const run = addClusterOptions(gateway.command('run', { isDefault: true }))
    .description('Run the gateway and print its addresses')
    .addOption(createPortOption({ free: true }))
    .addOption(createBindOption())
    .addOption(createHostOption())
    .option('--auth-token <token>', 'Gateway token. Visible in the process list: prefer PERCH_TOKEN or the token file')
    .option('--expose', 'Allow connections from other computers. Serves only the API unless you set a certificate')
    .option('--tls-cert <file>', 'TLS certificate (PEM). Serves the app to other computers over HTTPS (requires --expose)')
    .option('--tls-key <file>', 'Private key of the TLS certificate (PEM)')
    .option('--advertise', 'Advertise the gateway on the local network with multicast DNS (requires --expose)')
    .addOption(
      new Option('--vaults <names>', 'Additional vaults to serve, separated by commas (default: all)').argParser((text) =>
        text.split(',').filter((name) => name !== ''),
      ),
    )
    .addOption(
      new Option(
        '--max-browsers <number>',
        'Maximum number of background browsers across vaults (default: based on free memory)',
      ).argParser((text) => parseInteger(text, 1, 100)),
    )
    .action(async (options) => (await import('../run-gateway.ts')).runGateway(options));
  addExamples(run, ['gateway run --port 8080', 'gateway run --bind 0.0.0.0 --expose --tls-cert cert.pem --tls-key key.pem']);
  addDiscoverCommand(gateway);
  addServiceCommands(gateway);

  addConnectionOptions(gateway.command('status'), { timeout: 10_000 })
    .description('Show service and gateway status')
    .option('--no-probe', 'Don’t contact the gateway')
    .option('--deep', 'Also show the system and its components')
    .option('--json', 'Print JSON')
    .action(async (options) => (await import('../status-actions.ts')).printStatus(options));
  addConnectionOptions(gateway.command('probe'), { timeout: 10_000 })
    .description('Test the connection to the gateway over HTTP, WebSocket and RPC')
    .option('--json', 'Print JSON')
    .action(async (options) => (await import('../status-actions.ts')).printProbe(options));
  const call = addConnectionOptions(gateway.command('call'), { timeout: 30_000 })
    .argument('<method>')
    .description('Call an RPC method of the gateway and print the result')
    .option('--params <json>', 'JSON object, @file, or - for standard input (default: {})')
    .option('--json', 'Print JSON on one line')
    .option('--raw', 'Print control characters unchanged')
    .action(async (method, options) => (await import('../call-method.ts')).callMethod(method, options));
  addExamples(call, ['gateway call health', `gateway call sessions.list --params '{"limit": 5}'`]);
}
