import { type Command, InvalidArgumentError, Option } from 'commander';
import { addExamples } from '../examples.ts';

/** `perch sync …`: one vault on several machines, over a NATS cluster (docs/decisions/0063). */
export function addSyncCommands(program: Command): void {
  const sync = program.command('sync').description('Sync a vault across computers with NATS JetStream');
  const nats = addCredentialOptions(sync.command('nats'))
    .option('--websocket <servers...>', 'Server addresses for browsers while this bridge is offline: wss://host:port')
    .description('Sync the vault over these servers from the next start')
    .action(async (servers, options) => (await import('../sync-actions.ts')).shareVault(servers, options));
  addExamples(nats, ['sync nats nats://a:4222 nats://b:4222 --user perch']);
  sync
    .command('status')
    .option('--json', 'Print JSON')
    .description('Show the sync servers and whether they are reachable')
    .action(async (options) => (await import('../sync-actions.ts')).printSyncStatus(options));
  sync
    .command('off')
    .description('Stop syncing from the next start. Local data is kept')
    .action(async () => (await import('../sync-actions.ts')).stopSharing());
  sync
    .command('phrase')
    .description('Print the recovery phrase: the vault key as 24 words')
    .action(async () => (await import('../sync-actions.ts')).printRecoveryPhrase());
  sync
    .command('join')
    .description('Join a vault from a new computer. Prompts for the recovery phrase, or reads standard input')
    .action(async () => (await import('../sync-actions.ts')).joinVault());
  sync
    .command('permissions')
    .option('--user <name>', 'User name (default: perch-<vault>)')
    .addOption(
      new Option('--storage <size>', 'Storage limit of the vault’s account, including replicas').default('4GB').argParser(parseSize),
    )
    .option('--shared-account', 'Print a user for an account shared by several vaults instead of a separate account')
    .option('--for-cluster', 'Include the permissions for gateways in a cluster')
    .option('--json', 'Print only the permission lists, as JSON')
    .description('Print the NATS server configuration with the minimum permissions for this vault')
    .action(async (options) => (await import('../sync-actions.ts')).printPermissions(options));
  addCredentialOptions(sync.command('prepare'))
    .description('Create the vault’s streams as an operator. The operator’s credentials are not saved')
    .action(async (servers, options) => (await import('../sync-actions.ts')).prepareCluster(servers, options));
}

const addCredentialOptions = (command: Command) =>
  command
    .argument('<servers...>', 'nats://host:port or tls://host:port')
    .addOption(new Option('--credentials <file>', 'Credentials file (created with nsc)').conflicts(['user', 'token']))
    .addOption(new Option('--user <name>', 'User name. Prompts for the password, or reads standard input').conflicts('token'))
    .option('--token', 'Use a token. Prompts for it, or reads standard input')
    .option('--ca <file>', 'CA certificate of the servers (PEM)')
    .option('--cert <file>', 'Client certificate of this computer (PEM)')
    .option('--key <file>', 'Private key of the client certificate (PEM)')
    .addOption(
      new Option('--replicas <count>', 'Number of servers that store each record (default: 3 in a cluster, otherwise 1)').choices([
        '1',
        '3',
        '5',
      ]),
    );

function parseSize(text: string): string {
  if (/^[1-9]\d{0,5}(MB|GB|TB)$/.test(text)) return text;
  throw new InvalidArgumentError('Enter a number followed by MB, GB or TB.');
}
