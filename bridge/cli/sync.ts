import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from '#shared/rpc/zod.ts';
import { commandLine, startCommand } from '../command-line.ts';
import { Home, linkOrRename, readIfThere, writeWhole } from '../home.ts';
import { JOURNAL_FILE, KEY_FILE } from '../journal/file-names.ts';
import { vaultKey } from '../journal/vault-key.ts';
import { type NatsSettings, natsSettings, readSyncSettings, writeSyncSettings } from '../sync/settings.ts';
import { hidden } from './ask.ts';
import { CommandError, lineOf } from './errors.ts';
import { note, say, sayJson, shownLine } from './output.ts';

interface NatsOptions {
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
export async function shareOver(servers: string[], options: NatsOptions): Promise<void> {
  const data = await settingsOf(servers, options);
  const { dir } = await Home.open({ warn: note });
  await writeSyncSettings(dir, data);
  say(`The vault syncs over ${servers.join(', ')} from the next start.`);
  if (options.websocket) note('Paired browsers receive these addresses and credentials, and store them encrypted.');
  const problem = existsSync(join(dir, KEY_FILE)) ? await problemWith(dir, data) : null;
  if (problem)
    note(`Warning: ${shownLine(problem.replace(/\.$/, ''))}. Changes stay on this computer until this is fixed, and sync afterwards.`);
}

/** `perch sync prepare …`: creates the vault's streams with the given credentials, which are not saved. */
export async function prepareCluster(servers: string[], options: NatsOptions): Promise<void> {
  const data = await settingsOf(servers, options);
  const dir = await homeWithVault();
  const problem = await problemWith(dir, data);
  if (problem) throw new CommandError(problem);
  say(`The vault’s streams are ready on ${servers.join(', ')}`);
}

/** `perch sync permissions`: prints configuration for the servers of this vault. */
export async function showPermissions({
  user,
  storage,
  sharedAccount = false,
  forCluster = false,
  json = false,
}: PermissionsOptions): Promise<void> {
  const dir = await homeWithVault();
  const [{ natsConfiguration, permissionsOf }, { RecordSeal }] = await Promise.all([
    import('../sync/permissions.ts'),
    import('../sync/record-seal.ts'),
  ]);
  const { vault } = new RecordSeal(await keyOf(dir));
  const wanted = { vault, ownAccount: !sharedAccount, forCluster };
  if (json) return sayJson({ vault, ...permissionsOf(wanted) });
  say(natsConfiguration({ ...wanted, user: user ?? `perch-${vault}`, storage }).trimEnd());
}

async function settingsOf(
  servers: string[],
  { credentials, user, token, ca, cert, key, replicas, websocket }: NatsOptions,
): Promise<NatsSettings> {
  const secret = user !== undefined || token ? await asked(user === undefined ? 'Token: ' : `Password for ${user}: `) : undefined;
  const absolute = (path: string | undefined): string | undefined => path && resolve(path);
  const tls = { ca: absolute(ca), cert: absolute(cert), key: absolute(key) };
  const given = {
    servers,
    websocket,
    credentials: absolute(credentials),
    user,
    password: user === undefined ? undefined : secret,
    token: token ? secret : undefined,
    tls: Object.values(tls).some((path) => path !== undefined) ? tls : undefined,
    replicas: replicas === undefined ? undefined : Number(replicas),
  };
  const { data, error } = natsSettings.safeParse(given);
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
export async function showSync({ json = false }: { json?: boolean }): Promise<void> {
  const { dir } = await Home.open({ warn: note });
  const nats = await settingsIn(dir);
  if (!nats) return json ? sayJson({ nats: null }) : say('Sync is off');
  const problem = existsSync(join(dir, KEY_FILE)) ? await problemWith(dir, nats) : 'No vault on this computer yet';
  if (json) return sayJson({ nats: { servers: nats.servers }, problem });
  say(`Servers: ${nats.servers.join(', ')}`);
  if (problem) throw new CommandError(problem);
  say('Connected');
}

/** `perch sync off`. */
export async function shareNoLonger(): Promise<void> {
  const { dir } = await Home.open({ warn: note });
  await writeSyncSettings(dir, undefined);
  say('Sync is off from the next start. Your data stays on this computer. The cluster keeps its encrypted copy.');
}

/** `perch sync phrase`. */
export async function showPhrase(): Promise<void> {
  const dir = await homeWithVault();
  const { phraseOf } = await import('#shared/sync/nats/recovery-phrase.ts');
  say(phraseOf(await keyOf(dir)));
  note('Anyone with these words can read everything in the vault. Write them down on paper: they can’t be recovered.');
}

/** `perch sync join`: makes a home part of the vault whose recovery phrase is given. */
export async function joinVault(): Promise<void> {
  const { keyOfPhrase } = await import('#shared/sync/nats/recovery-phrase.ts');
  const { dir } = await Home.open({ warn: note });
  let key: string;
  try {
    key = keyOfPhrase(await asked('Recovery phrase (24 words): '));
  } catch (error) {
    throw new CommandError(lineOf(error), 2, { cause: error });
  }
  const path = join(dir, KEY_FILE);
  if ((await readIfThere(path)) !== undefined) {
    if ((await keyOf(dir)) === key) return say('This computer already has this key');
    throw new CommandError(`${dir} contains another vault. Set PERCH_HOME to a new folder, or move this one away.`);
  }
  if (existsSync(join(dir, JOURNAL_FILE))) throw new CommandError(`${dir} contains a journal without its key. Move it away first.`);
  await writeWhole(path, `${key}\n`, linkOrRename);
  say('Saved the vault key on this computer');
  if (!(await settingsIn(dir))) note(`Set the sync servers with \`${commandLine('sync nats <server>')}\`.`);
}

async function homeWithVault(): Promise<string> {
  const { dir } = await Home.open({ warn: note });
  if (!existsSync(join(dir, KEY_FILE)))
    throw new CommandError(`No vault on this computer yet. Start Perch with \`${startCommand()}\` first.`);
  return dir;
}

const asked = async (question: string): Promise<string> =>
  process.stdin.isTTY ? hidden(question) : (await text(process.stdin)).replace(/\r?\n$/, '');

const explained = (error: unknown): never => {
  throw new CommandError(lineOf(error), 1, { cause: error });
};
const keyOf = (dir: string): Promise<string> => vaultKey(dir, note).catch(explained);
const settingsIn = (dir: string): Promise<NatsSettings | undefined> => readSyncSettings(dir, note).catch(explained);

/** Describes what prevents this machine from using the cluster; null if nothing does. */
async function problemWith(dir: string, nats: NatsSettings): Promise<string | null> {
  const [{ openCluster }, { RecordSeal }, { secretText }] = await Promise.all([
    import('../sync/connection.ts'),
    import('../sync/record-seal.ts'),
    import('../sync/secret-text.ts'),
  ]);
  try {
    const cluster = await openCluster(nats, new RecordSeal(await keyOf(dir)), (secret) => secretText(dir, secret));
    await cluster.nc.close();
    return null;
  } catch (error) {
    return lineOf(error);
  }
}
