import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from '#shared/rpc/zod.ts';
import { browserServers } from '#shared/sync/nats/browser-transport.ts';
import { warnIfExposed, readFileIfExists, writeFileAtomically } from '../home-directory.ts';

/** File in the home directory with the cluster that the vault is shared over. Not part of the configuration, which is itself shared. */
export const SYNC_FILE = 'sync.json';

const pathSchema = z.string().min(1).max(4096);
const secretSchema = z.string().min(1).max(4096);
const serverSchema = z
  .string()
  .max(500)
  .regex(/^(?:(?:nats|tls):\/\/)?[^\s/@]+$/, 'Enter nats://host:port or tls://host:port, without a user name or password');

export const natsSettingsSchema = z
  .strictObject({
    servers: z.array(serverSchema).min(1).max(100),
    /** Servers for browsers, over NATS' WebSocket. Attached browsers get them with credentials, for when this bridge is away. */
    websocket: browserServers.optional(),
    /** Credentials file, as created by `nsc`. */
    credentials: pathSchema.optional(),
    user: z.string().min(1).max(500).optional(),
    /** May be `${NAME}`, a reference to a secret (docs/decisions/0030), like the token. */
    password: secretSchema.optional(),
    token: secretSchema.optional(),
    /** PEM files: the authority of the servers' certificates, and this bridge's certificate and key. */
    tls: z.strictObject({ ca: pathSchema.optional(), cert: pathSchema.optional(), key: pathSchema.optional() }).optional(),
    /** Number of servers that store each record, if this bridge creates the stream. Default: 3 in a cluster, 1 on a single server. */
    replicas: z.union([z.literal(1), z.literal(3), z.literal(5)]).optional(),
  })
  .refine(({ credentials, user, token }) => [credentials, user, token].filter((method) => method !== undefined).length <= 1, {
    message: 'Use only one of credentials, user and token',
  })
  .refine(({ user, password }) => (user === undefined) === (password === undefined), {
    message: 'The user and password must be used together',
  })
  .refine(({ tls }) => (tls?.cert === undefined) === (tls?.key === undefined), {
    message: 'The certificate and its key must be used together',
  });
/** Setting `sync.nats`: servers and credentials. */
export type NatsSettings = z.infer<typeof natsSettingsSchema>;

const syncFileSchema = z.strictObject({ version: z.literal(1), nats: natsSettingsSchema });

/** Reads `sync.json`. Undefined if it is missing. Throws an error that names the file if it is invalid. */
export async function readSyncSettings(dir: string, warn: (line: string) => void = () => {}): Promise<NatsSettings | undefined> {
  const file = join(dir, SYNC_FILE);
  const text = await readFileIfExists(file);
  if (text === undefined) return undefined;
  await warnIfExposed(file, 0o600, warn);
  try {
    return syncFileSchema.parse(JSON.parse(text)).nats;
  } catch (error) {
    const problem = error instanceof z.ZodError ? z.prettifyError(error).replaceAll(/\s+/g, ' ') : 'it is not valid JSON';
    throw new Error(`${file} can’t be used: ${problem}`, { cause: error });
  }
}

/** Writes `sync.json`, readable by the owner only. Undefined removes it. */
export async function writeSyncSettings(dir: string, nats: NatsSettings | undefined): Promise<void> {
  const file = join(dir, SYNC_FILE);
  if (nats === undefined) return rm(file, { force: true });
  await writeFileAtomically(file, `${JSON.stringify({ version: 1, nats }, null, 2)}\n`, rename);
}
