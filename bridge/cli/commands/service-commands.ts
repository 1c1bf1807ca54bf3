import type { Command } from 'commander';
import { createBindOption, createHostOption, createPortOption } from '../cli-options.ts';

/** `perch gateway install` and `uninstall`. */
export function addServiceCommands(gateway: Command): void {
  gateway
    .command('install')
    .description('Install the gateway as a service that starts when you log in. Run again to change its options')
    .addOption(createPortOption({ free: false }))
    .addOption(createBindOption())
    .addOption(createHostOption())
    .option('--expose', 'Allow connections from other computers. Serves only the API unless you set a certificate')
    .option('--tls-cert <file>', 'TLS certificate (PEM). Serves the app to other computers over HTTPS (requires --expose)')
    .option('--tls-key <file>', 'Private key of the TLS certificate (PEM)')
    .option('--advertise', 'Advertise the gateway on the local network with multicast DNS (requires --expose)')
    .option('--dry-run', 'Print the service definition and commands without running them')
    .action(async (options) => (await import('../service-actions.ts')).installGateway(options));
  gateway
    .command('uninstall')
    .description('Remove the service. Your data is kept')
    .action(async () => (await import('../service-actions.ts')).uninstallGateway());
}
