import { type Command, InvalidArgumentError, Option } from 'commander';

/** `perch sync …`: one vault on several machines, over a NATS cluster (docs/decisions/0063). */
export function syncCommands(program: Command): void {
  const sync = program.command('sync').description('one vault on several machines, over NATS JetStream');
  withWayIn(sync.command('nats'))
    .option('--websocket <servers...>', 'where browsers reach the servers when this bridge is not there: wss://host:port')
    .description('share the vault over these servers, from the next start on')
    .action(async (servers, options) => (await import('../sync.ts')).shareOver(servers, options));
  sync
    .command('status')
    .option('--json', 'print JSON')
    .description('where the vault is shared, and whether that can be reached')
    .action(async (options) => (await import('../sync.ts')).showSync(options));
  sync
    .command('off')
    .description('keep the vault on this machine alone, from the next start on; everything stays here')
    .action(async () => (await import('../sync.ts')).shareNoLonger());
  sync
    .command('phrase')
    .description('print the vault’s key as 24 words, for another machine and for safe keeping')
    .action(async () => (await import('../sync.ts')).showPhrase());
  sync
    .command('join')
    .description('take the vault’s key from its 24 words, on a machine that has no vault yet; asked for unseen, or standard input')
    .action(async () => (await import('../sync.ts')).joinVault());
  sync
    .command('permissions')
    .option('--user <name>', 'the name of the user (perch-<vault>)')
    .addOption(
      new Option('--storage <size>', 'the most that the vault’s account may store, replicas counted each').default('4GB').argParser(size),
    )
    .option('--shared-account', 'a user of an account that several vaults share, instead of an account for this vault')
    .option('--for-cluster', 'with what bridges of the vault say to each other directly')
    .option('--json', 'print the lists alone, as JSON')
    .description('print what the NATS servers must let this vault do, and no more, for their configuration')
    .action(async (options) => (await import('../sync.ts')).showPermissions(options));
  withWayIn(sync.command('prepare'))
    .description('make the vault’s streams as a user who may, where the vault’s own may not; keeps nothing')
    .action(async (servers, options) => (await import('../sync.ts')).prepareCluster(servers, options));
}

const withWayIn = (command: Command) =>
  command
    .argument('<servers...>', 'nats://host:port or tls://host:port')
    .addOption(new Option('--credentials <file>', 'a file of credentials, as nsc makes it').conflicts(['user', 'token']))
    .addOption(new Option('--user <name>', 'a user; the password is asked for unseen, or standard input').conflicts('token'))
    .option('--token', 'a token, asked for unseen, or standard input')
    .option('--ca <file>', 'who signed the servers’ certificates (PEM)')
    .option('--cert <file>', 'this machine’s certificate (PEM)')
    .option('--key <file>', 'and its key (PEM)')
    .addOption(new Option('--replicas <count>', 'on how many servers each record lies (3 in a cluster, else 1)').choices(['1', '3', '5']));

function size(text: string): string {
  if (/^[1-9]\d{0,5}(MB|GB|TB)$/.test(text)) return text;
  throw new InvalidArgumentError('a size is a number with MB, GB or TB');
}
