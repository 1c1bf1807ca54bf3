import { type Command, InvalidArgumentError, Option } from 'commander';

/** `perch backup …`. */
export function addBackupCommands(program: Command): void {
  const backup = program.command('backup').description('Create, verify and restore backups');
  backup
    .command('export')
    .description('Create a backup. The gateway can keep running')
    .option('--output <file>', 'File to write (default: a new file in backups/ of the home directory)')
    .option('--force', 'Overwrite an existing file')
    .option('--secrets', 'Include provider keys, encrypted with a passphrase')
    .option('--passphrase-file <file>', 'File that contains the passphrase (default: prompt for it)')
    .option('--json', 'Print JSON')
    .action(async (options) => (await import('../backup-actions.ts')).exportBackup(options));
  backup
    .command('list')
    .description('List and verify the backups in the home directory')
    .option('--json', 'Print JSON')
    .action(async (options) => (await import('../backup-actions.ts')).printBackups(options));
  backup
    .command('restore')
    .argument('<file>')
    .description('Restore missing and changed data from a backup. Newer data is kept')
    .option('--replace', 'Delete data that is not in the backup, except keys')
    .option('--dry-run', 'Show the changes without making them')
    .option('--yes', 'Skip the confirmation')
    .option('--passphrase-file <file>', 'File that contains the passphrase for the backup’s keys (default: prompt for it)')
    .addOption(createMaxSizeOption())
    .option('--json', 'Print JSON')
    .action(async (file, options) => (await import('../backup-actions.ts')).restoreBackup(file, options));
}

/** In megabytes; parsed to bytes. */
function createMaxSizeOption(): Option {
  return new Option('--max-size <megabytes>', 'Maximum unpacked size (default: 256, less for a small file)').argParser((text) => {
    if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('Must be between 1 and 999999.');
    return Number(text) * 1024 * 1024;
  });
}
