import { type Command, Option } from 'commander';

/** One bridge of several that serve a vault together (docs/decisions/0069): where the cluster is, and how to get in. */
export const clusterOptions = (command: Command): Command =>
  command
    .addOption(
      new Option(
        '--cluster [servers]',
        'serve the vault together with its other gateways, over these NATS servers (nats://a:4222,nats://b:4222; those of `perch sync nats` where left out)',
      ),
    )
    .option('--cluster-credentials <file>', 'a file of credentials, as nsc makes it')
    .option('--cluster-user <name>', 'a user; the password is in PERCH_CLUSTER_PASSWORD')
    .option('--cluster-ca <file>', 'who signed the servers’ certificates (PEM)')
    .option('--cluster-cert <file>', 'this gateway’s certificate (PEM)')
    .option('--cluster-key <file>', 'and its key (PEM)');
