import { type Command, InvalidArgumentError, Option } from 'commander';

/** `perch backup …`. */
export function backupCommands(program: Command): void {
  const backup = program.command('backup').description('copies of everything on this disk, made and brought back without a browser');
  backup
    .command('export')
    .description('write a backup, also while the gateway runs')
    .option('--output <file>', 'where to; default: a new file under backups/ in the home directory')
    .option('--force', 'replace a file that is there')
    .option('--secrets', 'with the providers’ keys, sealed under a passphrase')
    .option('--passphrase-file <file>', 'the passphrase; without it, it is asked for')
    .option('--json', 'print JSON')
    .action(async (options) => (await import('../backup.ts')).exportBackup(options));
  backup
    .command('list')
    .description('list the backups in the home directory, and check each')
    .option('--json', 'print JSON')
    .action(async (options) => (await import('../backup.ts')).printBackups(options));
  backup
    .command('restore')
    .argument('<file>')
    .description('bring back what is missing or differs, and keep what was made since; shows it and asks first')
    .option('--replace', 'delete what is not in the backup, but for keys')
    .option('--dry-run', 'only show what it would do')
    .option('--yes', 'do not ask')
    .option('--passphrase-file <file>', 'the passphrase of the keys in the backup; without it, it is asked for')
    .addOption(maxSizeOption())
    .option('--json', 'print JSON')
    .action(async (file, options) => (await import('../backup.ts')).restoreBackup(file, options));
}

/** In megabytes; parsed to bytes. */
function maxSizeOption(): Option {
  return new Option('--max-size <megabytes>', 'what the backup may unpack to (default: 256)').argParser((text) => {
    if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It must be 1 to 999999.');
    return Number(text) * 1024 * 1024;
  });
}
