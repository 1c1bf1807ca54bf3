import { inboxOf, streamsOf } from '#shared/sync/nats/places.ts';
import { commandLine } from '../command-line.ts';

/** The subjects that a user may publish to and subscribe to, as `nats-server` takes them (docs.nats.io, "Authorization"). */
export interface Permissions {
  publish: string[];
  subscribe: string[];
}

/** Who is there, where an earlier build has first shared the vault: some hundred bytes for each bridge, on each replica. */
const MEMORY = '16MB';
/** Of one stream: each bridge has one of the records and one of who is there, and for seconds one of each object that it reads. */
const CONSUMERS = 1000;

export interface PermissionsWanted {
  /** In 16 hex digits, as `RecordSeal` names it. */
  vault: string;
  /** The account is the vault's alone, so its user may make the streams. In a shared one that would be the right to copy the streams of others. */
  ownAccount: boolean;
  /** What bridges say to each other directly, too. */
  forCluster: boolean;
}

/** All that a bridge does in the cluster, and no more (docs/decisions/0077). */
export function permissionsOf({ vault, ownAccount, forCluster }: PermissionsWanted): Permissions {
  const streams = streamsOf(vault);
  const { objects } = streams;
  const all = Object.values(streams);
  const api = (words: string, of: readonly string[], rest = ''): string[] => of.map((stream) => `$JS.API.${words}.${stream}${rest}`);
  // Leases are asked for one by one.
  const read = all.filter((stream) => stream !== streams.leases);
  return {
    publish: [
      `perch.${vault}.${forCluster ? '>' : 'r.>'}`,
      // Who is asked by another bridge answers there.
      ...(forCluster ? [`${inboxOf(vault)}.>`] : []),
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
    subscribe: [`${inboxOf(vault)}.>`, ...(forCluster ? [`perch.${vault}.>`] : [])],
  };
}

export interface ConfigurationWanted extends PermissionsWanted {
  user: string;
  /** The most that the account may store, replicas counted each, as `nats-server` writes sizes: `4GB`. */
  storage: string;
}

/** What goes into `nats-server`'s configuration: the vault's account with its user, or the user alone. The password is a variable of the server's environment. */
export function natsConfiguration({ user, storage, ...wanted }: ConfigurationWanted): string {
  const { vault, ownAccount } = wanted;
  const { publish, subscribe } = permissionsOf(wanted);
  const list = (subjects: readonly string[]): string => `[\n${subjects.map((subject) => `  ${JSON.stringify(subject)}\n`).join('')}]`;
  const variable = `PERCH_${vault.toUpperCase()}_PASSWORD`;
  const entry = `{
  user: ${JSON.stringify(user)}
  password: $${variable}
  permissions {
${indented(`publish: ${list(publish)}\nsubscribe: ${list(subscribe)}`, 4)}
  }
}`;
  const password = `# Set the password in the server's environment: ${variable}=p$(openssl rand -hex 24)\n# (start it with a letter: a value that starts with a digit is read as a number).\n`;
  if (!ownAccount)
    return `# Add this to \`users: [ ]\` of an account shared by several vaults. A vault can't read the subjects of another one, but it can make the server send responses
# to them. This overwrites data there until a computer of that vault restores it: a separate account for each vault is safer.
# Create the streams as an operator first: ${commandLine('sync prepare <server>')}
${password}${entry}\n`;
  return `# Add this to \`accounts { }\`.
${password}PERCH_${vault} {
  # Storage includes replicas. Streams: records, objects, leases and presence.
  jetstream { max_file: ${storage}, max_mem: ${MEMORY}, max_streams: ${Object.keys(streamsOf(vault)).length}, max_consumers: ${CONSUMERS} }
  users: [
${indented(entry, 4)}
  ]
}\n`;
}

const indented = (text: string, by: number): string => text.replaceAll(/^/gm, ' '.repeat(by));
