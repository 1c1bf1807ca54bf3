import type { Command } from 'commander';
import { bindOption, hostOption, portOption } from '../options.ts';

/** `perch gateway install` and `uninstall`. */
export function serviceCommands(gateway: Command): void {
  gateway
    .command('install')
    .description('run the gateway as a service of yours, from log-in on (systemd, launchd or a task of Windows); again: with other options')
    .addOption(portOption({ free: false }))
    .addOption(bindOption())
    .addOption(hostOption())
    .option('--expose', 'allow an address that is not loopback: the API alone, without the app, unless there is a certificate')
    .option('--tls-cert <file>', 'certificate (PEM): other machines are served over HTTPS alone, and the app too; with --expose')
    .option('--tls-key <file>', 'its private key (PEM)')
    .option('--advertise', 'tell the network by multicast DNS that the gateway is here; with --expose alone')
    .option('--dry-run', 'print the service’s definition and what would be done')
    .action(async (options) => (await import('../service.ts')).installGateway(options));
  gateway
    .command('uninstall')
    .description('end the service and take it away; what Perch keeps stays')
    .action(async () => (await import('../service.ts')).uninstallGateway());
}
