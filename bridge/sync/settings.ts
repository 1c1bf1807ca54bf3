import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from '#shared/rpc/zod.ts';
import { browserServers } from '#shared/sync/nats/way.ts';
import { checkMode, readIfThere, writeWhole } from '../home.ts';

/** In the home directory: where the vault is shared. It cannot lie in the configuration, which is itself part of what is shared. */
export const SYNC_FILE = 'sync.json';

const path = z.string().min(1).max(4096);
const secret = z.string().min(1).max(4096);
const server = z
  .string()
  .max(500)
  .regex(/^(?:(?:nats|tls):\/\/)?[^\s/@]+$/, 'Enter nats://host:port or tls://host:port, without a user name or password');

export const natsSettings = z
  .strictObject({
    servers: z.array(server).min(1).max(100),
    /** Where browsers connect, by NATS' WebSocket: attached ones are told, and how to get in, for when this bridge is not there. */
    websocket: browserServers.optional(),
    /** A file of credentials, as `nsc` makes it. */
    credentials: path.optional(),
    user: z.string().min(1).max(500).optional(),
    /** May be `${NAME}`, a secret that is kept elsewhere (docs/decisions/0030); so may the token. */
    password: secret.optional(),
    token: secret.optional(),
    /** PEM files: who signed the servers' certificates, and this bridge's own certificate and key. */
    tls: z.strictObject({ ca: path.optional(), cert: path.optional(), key: path.optional() }).optional(),
    /** On how many servers each record lies, where the stream is made here. Without it: 3 in a cluster, 1 on a single server. */
    replicas: z.union([z.literal(1), z.literal(3), z.literal(5)]).optional(),
  })
  .refine(({ credentials, user, token }) => [credentials, user, token].filter((way) => way !== undefined).length <= 1, {
    message: 'Use only one of credentials, user and token',
  })
  .refine(({ user, password }) => (user === undefined) === (password === undefined), {
    message: 'The user and password must be used together',
  })
  .refine(({ tls }) => (tls?.cert === undefined) === (tls?.key === undefined), {
    message: 'The certificate and its key must be used together',
  });
/** `sync.nats`: the servers, and how to get in. */
export type NatsSettings = z.infer<typeof natsSettings>;

const syncFile = z.strictObject({ version: z.literal(1), nats: natsSettings });

/** What `sync.json` says; undefined where there is none. Throws, naming the file, where it cannot be used. */
export async function readSyncSettings(dir: string, warn: (line: string) => void = () => {}): Promise<NatsSettings | undefined> {
  const file = join(dir, SYNC_FILE);
  const text = await readIfThere(file);
  if (text === undefined) return undefined;
  await checkMode(file, 0o600, warn);
  try {
    return syncFile.parse(JSON.parse(text)).nats;
  } catch (error) {
    const what = error instanceof z.ZodError ? z.prettifyError(error).replaceAll(/\s+/g, ' ') : 'it is not valid JSON';
    throw new Error(`${file} can’t be used: ${what}`, { cause: error });
  }
}

/** Kept for the owner alone; undefined takes it away. */
export async function writeSyncSettings(dir: string, nats: NatsSettings | undefined): Promise<void> {
  const file = join(dir, SYNC_FILE);
  if (nats === undefined) return rm(file, { force: true });
  await writeWhole(file, `${JSON.stringify({ version: 1, nats }, null, 2)}\n`, rename);
}
