import { credsAuthenticator, type NatsConnection, wsconnect } from '@nats-io/nats-core';
import { CONNECT_TIMEOUT_MS, getInboxPrefix } from '#shared/sync/nats/vault-streams.ts';
import type { BrowserTransport } from '#shared/sync/nats/browser-transport.ts';

/** Connects to the cluster over its WebSocket, with an inbox for the named vault. Rejects with the client's errors. */
export function connectToCluster(
  vault: string,
  { servers, credentials, user, password, token }: BrowserTransport,
): Promise<NatsConnection> {
  return wsconnect({
    servers,
    name: 'perch',
    inboxPrefix: getInboxPrefix(vault),
    timeout: CONNECT_TIMEOUT_MS,
    // The caller reconnects, and checks everything again.
    reconnect: false,
    // A cluster announces its other servers' own addresses, which a browser cannot reach.
    ignoreClusterUpdates: true,
    pingInterval: 10_000,
    maxPingOut: 2,
    ...(credentials !== undefined && { authenticator: credsAuthenticator(new TextEncoder().encode(credentials)) }),
    ...(user !== undefined && { user, pass: password ?? '' }),
    ...(token !== undefined && { token }),
  });
}
