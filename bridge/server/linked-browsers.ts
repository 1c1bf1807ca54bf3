import type { linkedBrowsersPort } from '#shared/ports/linked-browsers-port.ts';
import type { Home, StoredCredential } from '../home-directory.ts';
import type { Authenticator } from './auth.ts';
import type { PortHandlers } from '../capabilities/serve-port.ts';

export interface LinkedBrowsersDeps {
  home: Pick<Home, 'credentials' | 'removeCredentials'>;
  auth: Pick<Authenticator, 'remove' | 'isOpen'>;
  log(line: string): void;
}

/** Delay between disconnecting a browser's pages and its worker. */
const DISCONNECT_MS = 1000;

interface CredentialPair {
  app: StoredCredential;
  /** Credential of its worker. Missing only if the file was edited. */
  host: StoredCredential | undefined;
}

/** Port handlers, the same for every host. */
export function createLinkedBrowsersHandlers({
  home,
  auth,
  log,
}: LinkedBrowsersDeps): PortHandlers<(typeof linkedBrowsersPort)['calls'], (typeof linkedBrowsersPort)['events']> {
  return {
    'linked-browsers.list': async () => ({
      browsers: toPairs(await home.credentials()).map(({ app, host }) => ({
        id: app.id,
        name: app.name ?? null,
        linkedAt: app.createdAt,
        connected: auth.isOpen(app.id) || (host !== undefined && auth.isOpen(host.id)),
      })),
    }),
    'linked-browsers.revoke': async ({ id }) => {
      const pair = toPairs(await home.credentials()).find(({ app }) => app.id === id);
      if (!pair) return { revoked: false };
      const { app, host } = pair;
      await home.removeCredentials([app.id, ...(host ? [host.id] : [])]);
      log('Revoked a paired browser');
      auth.remove([app.id]);
      // The worker may be the active host, which has to deliver this response first.
      if (host) setTimeout(() => auth.remove([host.id]), DISCONNECT_MS).unref();
      return { revoked: true };
    },
  };
}

/** Pairs credentials: a browser's two are stored together, that of its pages first. */
const toPairs = (credentials: readonly StoredCredential[]): CredentialPair[] =>
  credentials.flatMap((app, at) => {
    const next = credentials[at + 1];
    return app.kind === 'app' ? { app, host: next?.kind === 'host' ? next : undefined } : [];
  });
