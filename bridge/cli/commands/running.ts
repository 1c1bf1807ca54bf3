import type { Command } from 'commander';
import { authTokenOption, connectionOptions } from '../options.ts';

/** Commands for the gateway that runs, and for its owner. */
export function runningCommands(program: Command): void {
  connectionOptions(program.command('open'), { timeout: 10_000, password: false })
    .description('print a new link to the running gateway’s app')
    .addOption(authTokenOption())
    .option('--qr', 'print the link for another device as a QR code, for a phone’s camera')
    .action(async (options) => (await import('../open.ts')).openLink(options));

  connectionOptions(program.command('doctor'), { timeout: 60_000 })
    .description('look for faults in the running gateway, and say what to do about each')
    .addOption(authTokenOption())
    .option('--json', 'print JSON')
    .action(async (options) => (await import('../doctor.ts')).runDoctor(options));

  program
    .command('token')
    .description('say where the owner’s token is; set a password as a second way in for people')
    .option('--set-password', 'asked for unseen, or the one line of standard input')
    .option('--clear-password', 'nobody is let in by a password any more')
    .action(async (options) => (await import('../password.ts')).manageToken(options));
}
