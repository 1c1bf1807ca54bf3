import type { Command } from 'commander';
import { createAuthTokenOption, addConnectionOptions } from '../cli-options.ts';

/** Commands for the running gateway and its owner. */
export function addRunningGatewayCommands(program: Command): void {
  addConnectionOptions(program.command('open'), { timeout: 10_000, password: false })
    .description('Print a new link to the app')
    .addOption(createAuthTokenOption())
    .option('--qr', 'Print a QR code to open the app on another device')
    .action(async (options) => (await import('../open-link.ts')).openLink(options));

  addConnectionOptions(program.command('doctor'), { timeout: 60_000 })
    .description('Check the running gateway for problems')
    .addOption(createAuthTokenOption())
    .option('--json', 'Print JSON')
    .action(async (options) => (await import('../doctor-actions.ts')).runDoctor(options));

  program
    .command('token')
    .description('Show the token file and manage the password')
    .option('--set-password', 'Set a password. Prompts for it, or reads standard input')
    .option('--clear-password', 'Remove the password')
    .action(async (options) => (await import('../token-actions.ts')).manageToken(options));
}
