import { type Command, Option } from 'commander';

/** Options for serving a vault together with other bridges (docs/decisions/0069): the cluster's servers and credentials. */
export const addClusterOptions = (command: Command): Command =>
  command
    .addOption(
      new Option(
        '--cluster [servers]',
        'Serve the vault together with other gateways over NATS, such as nats://a:4222,nats://b:4222 (default: the servers of `sync nats`)',
      ),
    )
    .option('--cluster-credentials <file>', 'NATS credentials file (created with nsc)')
    .option('--cluster-user <name>', 'NATS user. Set its password in PERCH_CLUSTER_PASSWORD')
    .option('--cluster-ca <file>', 'CA certificate of the servers (PEM)')
    .option('--cluster-cert <file>', 'Client certificate of this gateway (PEM)')
    .option('--cluster-key <file>', 'Private key of the client certificate (PEM)');
