import { readFile } from 'node:fs/promises';
import type { BrowserWay } from '#shared/sync/nats/way.ts';
import type { ResolveSecret } from './connection.ts';
import type { NatsSettings } from './settings.ts';

/** How attached browsers reach the cluster when this bridge is not there; null: not at all. Rejects where credentials cannot be read. */
export async function browserWayOf(
  { websocket, credentials, user, password, token }: NatsSettings,
  resolve: ResolveSecret,
): Promise<BrowserWay | null> {
  if (!websocket) return null;
  return {
    servers: websocket,
    ...(credentials !== undefined && { credentials: await readFile(credentials, 'utf8') }),
    ...(user !== undefined && { user, password: await resolve(password ?? '') }),
    ...(token !== undefined && { token: await resolve(token) }),
  };
}
