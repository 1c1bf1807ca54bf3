import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from '#shared/rpc/zod.ts';
import { toCommandLine, toStartCommand } from '../command-line.ts';
import { Home, linkOrRename, readFileIfExists, writeFileAtomically } from '../home-directory.ts';
import { JOURNAL_FILE, KEY_FILE } from '../journal/file-names.ts';
import { loadVaultKey } from '../journal/vault-key.ts';
import { type NatsSettings, natsSettingsSchema, readSyncSettings, writeSyncSettings } from '../sync/sync-settings.ts';
import { promptHidden } from './prompt.ts';
import { CommandError, toErrorLine } from './command-error.ts';
import { printNote, printLine, printJson, escapeToOneLine } from './terminal-output.ts';

interface NatsCommandOptions {
  credentials?: string;
  user?: string;
  token?: boolean;
  ca?: string;
  cert?: string;
  key?: string;
  replicas?: string;
  websocket?: string[];
}

interface PermissionsOptions {
  user?: string;
  storage: string;
  sharedAccount?: boolean;
  forCluster?: boolean;
  json?: boolean;
}

/** `perch sync nats …`: saves the cluster's settings and checks that it can be used. */
export async function shareVault(servers: string[], options: NatsCommandOptions): Promise<void> {
  const data = await toNatsSettings(servers, options);
  const { dir } = await Home.open({ warn: printNote });
  await writeSyncSettings(dir, data);
  printLine(`The vault syncs over ${servers.join(', ')} from the next start.`);
  if (options.websocket) printNote('Paired browsers receive these addresses and credentials, and store them encrypted.');
  const problem = existsSync(join(dir, KEY_FILE)) ? await findClusterProblem(dir, data) : null;
  if (problem)
    printNote(
      `Warning: ${escapeToOneLine(problem.replace(/\.$/, ''))}. Changes stay on this computer until this is fixed, and sync afterwards.`,
    );
}

/** `perch sync prepare …`: creates the vault's streams with the given credentials, which are not saved. */
export async function prepareCluster(servers: string[], options: NatsCommandOptions): Promise<void> {
  const data = await toNatsSettings(servers, options);
  const dir = await openHomeWithVault();
  const problem = await findClusterProblem(dir, data);
  if (problem) throw new CommandError(problem);
  printLine(`The vault’s streams are ready on ${servers.join(', ')}`);
}

/** `perch sync permissions`: prints configuration for the servers of this vault. */
export async function printPermissions({
  user,
  storage,
  sharedAccount = false,
  forCluster = false,
  json = false,
}: PermissionsOptions): Promise<void> {
  const dir = await openHomeWithVault();
  const [{ createNatsConfiguration, computePermissions }, { RecordSeal }] = await Promise.all([
    import('../sync/permissions.ts'),
    import('../sync/record-seal.ts'),
  ]);
  const { vault } = new RecordSeal(await readKey(dir));
  const request = { vault, ownAccount: !sharedAccount, forCluster };
  if (json) return printJson({ vault, ...computePermissions(request) });
  printLine(createNatsConfiguration({ ...request, user: user ?? `perch-${vault}`, storage }).trimEnd());
}

async function toNatsSettings(
  servers: string[],
  { credentials, user, token, ca, cert, key, replicas, websocket }: NatsCommandOptions,
): Promise<NatsSettings> {
  const secret = user !== undefined || token ? await promptPhrase(user === undefined ? 'Token: ' : `Password for ${user}: `) : undefined;
  const absolute = (path: string | undefined): string | undefined => path && resolve(path);
  const tls = { ca: absolute(ca), cert: absolute(cert), key: absolute(key) };
  const settings = {
    servers,
    websocket,
    credentials: absolute(credentials),
    user,
    password: user === undefined ? undefined : secret,
    token: token ? secret : undefined,
    tls: Object.values(tls).some((path) => path !== undefined) ? tls : undefined,
    replicas: replicas === undefined ? undefined : Number(replicas),
  };
  const { data, error } = natsSettingsSchema.safeParse(settings);
  if (data) return data;
  throw new CommandError(
    z
      .prettifyError(error)
      .replaceAll(/\s*[✖→]\s*/g, ' ')
      .trim(),
    2,
  );
}

/** `perch sync status`. */
export async function printSyncStatus({ json = false }: { json?: boolean }): Promise<void> {
  const { dir } = await Home.open({ warn: printNote });
  const nats = await readSettings(dir);
  if (!nats) return json ? printJson({ nats: null }) : printLine('Sync is off');
  const problem = existsSync(join(dir, KEY_FILE)) ? await findClusterProblem(dir, nats) : 'No vault on this computer yet';
  if (json) return printJson({ nats: { servers: nats.servers }, problem });
  printLine(`Servers: ${nats.servers.join(', ')}`);
  if (problem) throw new CommandError(problem);
  printLine('Connected');
}

/** `perch sync off`. */
export async function stopSharing(): Promise<void> {
  const { dir } = await Home.open({ warn: printNote });
  await writeSyncSettings(dir, undefined);
  printLine('Sync is off from the next start. Your data stays on this computer. The cluster keeps its encrypted copy.');
}

/** `perch sync phrase`. */
export async function printRecoveryPhrase(): Promise<void> {
  const dir = await openHomeWithVault();
  const { toRecoveryPhrase } = await import('#shared/sync/nats/recovery-phrase.ts');
  printLine(toRecoveryPhrase(await readKey(dir)));
  printNote('Anyone with these words can read everything in the vault. Write them down on paper: they can’t be recovered.');
}

/** `perch sync join`: makes a home part of the vault whose recovery phrase is given. */
export async function joinVault(): Promise<void> {
  const { parseRecoveryPhrase } = await import('#shared/sync/nats/recovery-phrase.ts');
  const { dir } = await Home.open({ warn: printNote });
  let key: string;
  try {
    key = parseRecoveryPhrase(await promptPhrase('Recovery phrase (24 words): '));
  } catch (error) {
    throw new CommandError(toErrorLine(error), 2, { cause: error });
  }
  const path = join(dir, KEY_FILE);
  if ((await readFileIfExists(path)) !== undefined) {
    if ((await readKey(dir)) === key) return printLine('This computer already has this key');
    throw new CommandError(`${dir} contains another vault. Set PERCH_HOME to a new folder, or move this one away.`);
  }
  if (existsSync(join(dir, JOURNAL_FILE))) throw new CommandError(`${dir} contains a journal without its key. Move it away first.`);
  await writeFileAtomically(path, `${key}\n`, linkOrRename);
  printLine('Saved the vault key on this computer');
  if (!(await readSettings(dir))) printNote(`Set the sync servers with \`${toCommandLine('sync nats <server>')}\`.`);
}

async function openHomeWithVault(): Promise<string> {
  const { dir } = await Home.open({ warn: printNote });
  if (!existsSync(join(dir, KEY_FILE)))
    throw new CommandError(`No vault on this computer yet. Start Perch with \`${toStartCommand()}\` first.`);
  return dir;
}

const promptPhrase = async (question: string): Promise<string> =>
  process.stdin.isTTY ? promptHidden(question) : (await text(process.stdin)).replace(/\r?\n$/, '');

const rethrowExplained = (error: unknown): never => {
  throw new CommandError(toErrorLine(error), 1, { cause: error });
};
const readKey = (dir: string): Promise<string> => loadVaultKey(dir, printNote).catch(rethrowExplained);
const readSettings = (dir: string): Promise<NatsSettings | undefined> => readSyncSettings(dir, printNote).catch(rethrowExplained);

/** Describes what prevents this machine from using the cluster; null if nothing does. */
async function findClusterProblem(dir: string, nats: NatsSettings): Promise<string | null> {
  const [{ openCluster }, { RecordSeal }, { resolveSecretText }] = await Promise.all([
    import('../sync/cluster-connection.ts'),
    import('../sync/record-seal.ts'),
    import('../sync/secret-text.ts'),
  ]);
  try {
    const cluster = await openCluster(nats, new RecordSeal(await readKey(dir)), (secret) => resolveSecretText(dir, secret));
    await cluster.nc.close();
    return null;
  } catch (error) {
    return toErrorLine(error);
  }
}
