import { getInboxPrefix, getStreamNames } from '#shared/sync/nats/vault-streams.ts';
import { toCommandLine } from '../command-line.ts';

/** Subjects that a user may publish and subscribe to, in `nats-server`'s format (docs.nats.io, "Authorization"). */
interface NatsPermissions {
  publish: string[];
  subscribe: string[];
}

/** Size of the presence stream, if an earlier build first shared the vault: a few hundred bytes per bridge and replica. */
const PRESENCE_BYTES = '16MB';
/**
 * Maximum number of consumers per stream. Each bridge has one for records, one for presence, and short-lived ones for the objects that it
 * reads.
 */
const MAX_CONSUMERS = 1000;

export interface PermissionsOptions {
  /** Vault id in 16 hex digits, as in `RecordSeal`. */
  vault: string;
  /**
   * Whether the account belongs to the vault alone, so that its user may create the streams. In a shared account that would allow copying
   * other users' streams.
   */
  ownAccount: boolean;
  /** Whether bridges also message each other directly. */
  forCluster: boolean;
}

/** Returns the permissions that a bridge needs in the cluster, and no more (docs/decisions/0077). */
export function computePermissions({ vault, ownAccount, forCluster }: PermissionsOptions): NatsPermissions {
  const streams = getStreamNames(vault);
  const { objects } = streams;
  const all = Object.values(streams);
  const api = (words: string, streams: readonly string[], rest = ''): string[] =>
    streams.map((stream) => `$JS.API.${words}.${stream}${rest}`);
  // Leases are requested one by one.
  const read = all.filter((stream) => stream !== streams.leases);
  return {
    publish: [
      `perch.${vault}.${forCluster ? '>' : 'r.>'}`,
      // Bridges reply to requests of other bridges there.
      ...(forCluster ? [`${getInboxPrefix(vault)}.>`] : []),
      ...[`$O.PERCH_${vault}_blobs.>`, `$KV.PERCH_${vault}_leases.>`, `$KV.PERCH_${vault}_here.>`],
      '$JS.API.INFO',
      ...api('STREAM.INFO', all),
      ...(ownAccount ? api('STREAM.CREATE', all) : []),
      ...api('STREAM.MSG.GET', all),
      ...api('STREAM.PURGE', [objects]),
      ...api('CONSUMER.CREATE', read, '.>'),
      ...api('CONSUMER.INFO', read, '.*'),
      ...api('CONSUMER.DELETE', read, '.*'),
      ...api('CONSUMER.MSG.NEXT', [streams.records], '.*'),
      `$JS.FC.${objects}.>`,
    ],
    subscribe: [`${getInboxPrefix(vault)}.>`, ...(forCluster ? [`perch.${vault}.>`] : [])],
  };
}

interface ConfigurationOptions extends PermissionsOptions {
  user: string;
  /** Maximum storage of the account, counting every replica, in `nats-server`'s format: `4GB`. */
  storage: string;
}

/**
 * Returns configuration for `nats-server`: the vault's account with its user, or the user alone. The password is a variable of the server's
 * environment.
 */
export function createNatsConfiguration({ user, storage, ...wanted }: ConfigurationOptions): string {
  const { vault, ownAccount } = wanted;
  const { publish, subscribe } = computePermissions(wanted);
  const list = (subjects: readonly string[]): string => `[\n${subjects.map((subject) => `  ${JSON.stringify(subject)}\n`).join('')}]`;
  const variable = `PERCH_${vault.toUpperCase()}_PASSWORD`;
  const entry = `{
  user: ${JSON.stringify(user)}
  password: $${variable}
  permissions {
${indent(`publish: ${list(publish)}\nsubscribe: ${list(subscribe)}`, 4)}
  }
}`;
  const password = `# Set the password in the server's environment: ${variable}=p$(openssl rand -hex 24)\n# (start it with a letter: a value that starts with a digit is read as a number).\n`;
  if (!ownAccount)
    return `# Add this to \`users: [ ]\` of an account shared by several vaults. A vault can't read the subjects of another one, but it can make the server send responses
# to them. This overwrites data there until a computer of that vault restores it: a separate account for each vault is safer.
# Create the streams as an operator first: ${toCommandLine('sync prepare <server>')}
${password}${entry}\n`;
  return `# Add this to \`accounts { }\`.
${password}PERCH_${vault} {
  # Storage includes replicas. Streams: records, objects, leases and presence.
  jetstream { max_file: ${storage}, max_mem: ${PRESENCE_BYTES}, max_streams: ${Object.keys(getStreamNames(vault)).length}, max_consumers: ${MAX_CONSUMERS} }
  users: [
${indent(entry, 4)}
  ]
}\n`;
}

const indent = (text: string, by: number): string => text.replaceAll(/^/gm, ' '.repeat(by));
