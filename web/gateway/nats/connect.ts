import { credsAuthenticator, type NatsConnection, wsconnect } from '@nats-io/nats-core';
import { CONNECT_MS, inboxOf } from '#shared/sync/nats/places.ts';
import type { BrowserWay } from '#shared/sync/nats/way.ts';

/** Gets into the cluster over its WebSocket, with answers to the vault of that name. Rejects with the client's errors. */
export function connectTo(vault: string, { servers, credentials, user, password, token }: BrowserWay): Promise<NatsConnection> {
  return wsconnect({
    servers,
    name: 'perch',
    inboxPrefix: inboxOf(vault),
    timeout: CONNECT_MS,
    // The caller begins anew, and looks at everything again.
    reconnect: false,
    // A cluster tells of its other servers' own addresses, which a browser cannot dial.
    ignoreClusterUpdates: true,
    pingInterval: 10_000,
    maxPingOut: 2,
    ...(credentials !== undefined && { authenticator: credsAuthenticator(new TextEncoder().encode(credentials)) }),
    ...(user !== undefined && { user, pass: password ?? '' }),
    ...(token !== undefined && { token }),
  });
}
