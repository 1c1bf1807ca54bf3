import { readFile } from 'node:fs/promises';
import type { BrowserTransport } from '#shared/sync/nats/browser-transport.ts';
import type { ResolveSecret } from './cluster-connection.ts';
import type { NatsSettings } from './sync-settings.ts';

/**
 * Returns how attached browsers can reach the cluster while this bridge is away; null if they can't. Rejects if credentials can't be read.
 */
export async function getBrowserTransport(
  { websocket, credentials, user, password, token }: NatsSettings,
  resolve: ResolveSecret,
): Promise<BrowserTransport | null> {
  if (!websocket) return null;
  return {
    servers: websocket,
    ...(credentials !== undefined && { credentials: await readFile(credentials, 'utf8') }),
    ...(user !== undefined && { user, password: await resolve(password ?? '') }),
    ...(token !== undefined && { token: await resolve(token) }),
  };
}
