import type { RequestListener } from 'node:http';
import type { WebSocket } from 'ws';
import type { BrowserTransport } from '#shared/sync/nats/browser-transport.ts';
import { type Hello, MUX_VERSION, PORTS_VERSION, SCHEMA_VERSION } from '#shared/link/hello.ts';
import type { Credential } from '#shared/link/link-credentials.ts';
import { CLOSE_CODES } from '#shared/rpc/limits.ts';
import type { Home } from '../home-directory.ts';
import type { Journal } from '../journal/journal.ts';
import type { LogRing } from '../log-ring.ts';
import { OwnerPassword } from '../owner-password.ts';
import { AccessGrants } from './access-grants.ts';
import type { Admission } from './admission.ts';
import type { AuthLimiter } from './auth-limiter.ts';
import { Authenticator } from './auth.ts';
import { ExchangeRegistry } from '../passthrough/http-exchange.ts';
import { InFlightCounter } from './in-flight-counter.ts';
import type { HostMode } from './host-rank.ts';
import { HostRegistry } from './hosts.ts';
import { createApiListener } from './api-listener.ts';
import { LinkCodes } from './link-codes.ts';
import { createHookListener } from './hook-listener.ts';
import { createOauthCallback } from './oauth-callback.ts';
import type { MetricDefinition } from './operations-routes.ts';
import { createHostPorts } from './host-ports.ts';
import { ReceiptQueue } from '../passthrough/receipts.ts';
import { ResponsesSockets } from './responses-sockets.ts';
import { RouteCache } from '../passthrough/route-cache.ts';
import type { Timing } from './timing.ts';
import { serveUplink } from './uplink.ts';

/** Options of a vault. */
export interface ServeVaultOptions {
  home: Home;
  /** The owner's token. */
  token: string;
  /** The vault's journal. The caller closes it after the bridge. */
  journal: Journal;
  /** Key that seals the vault's secrets: 256 bits, base64url. Attached hosts receive it. */
  vaultKey: string;
  /** How attached browsers can reach the vault's cluster while this bridge is away. Without it they can't. */
  browserWay?: (() => Promise<BrowserTransport | null>) | undefined;
  /**
   * Id in the vault's outgoing requests, by which it recognizes them. Defaults to the bridge's id. Bridges of a cluster share one per
   * vault.
   */
  via?: string | undefined;
}

export interface VaultDeps {
  /** Empty for the home's own. */
  name: string;
  admission: Admission;
  /** Shared by all entry points of the bridge. */
  limiter: AuthLimiter;
  timing: Timing;
  about: { version: string; build: string; mode: HostMode };
  /** Redirect URL for OAuth services. */
  callbackUrl: string;
  /** Id in outgoing requests (capabilities/egress.ts). */
  via: string;
  /** Maximum number of concurrent requests to `/v1` and `/mcp`. */
  maxExchanges: number;
  /** Ring buffer that `log` also writes to. */
  ring: LogRing;
  log(line: string): void;
}

/** Reason sent to everyone on shutdown. */
export interface ShutdownReason {
  code: number;
  reason: string;
}

/** A vault as served by a bridge: authentication, the active host and the capabilities it gets. Vaults share nothing but the front door. */
export interface Vault {
  readonly name: string;
  readonly home: Home;
  readonly admission: Admission;
  readonly auth: Authenticator;
  readonly hosts: HostRegistry;
  readonly journal: Journal;
  readonly codes: LinkCodes;
  readonly shared: SharedVaultServices;
  /** Exchanges of `/v1` and `/mcp` in progress, and the number of responses by status. */
  readonly exchanges: InFlightCounter;
  readonly answers: ReadonlyMap<number, number>;
  /** Listener for `/v1` and `/mcp`. */
  readonly api: RequestListener;
  /** WebSockets at `/v1/responses`. */
  readonly responses: ResponsesSockets;
  /** Listener for `/hooks`. */
  readonly hooks: RequestListener;
  /** Listener for `/oauth/callback`. */
  readonly callback: RequestListener;
  /** Issues a new credential for the managed Chromium and invalidates the previous one. Never stored. */
  hostCredential(): Credential;
  /** Handles a host's connection. */
  uplink(socket: WebSocket, origin: string): void;
  log(line: string): void;
  /** Gives requests in progress a moment to finish, then dismisses the hosts. */
  dismiss(reason: ShutdownReason): Promise<void>;
  /** Runs after `dismiss`: accepts nothing more and writes everything to disk. */
  close(): Promise<void>;
}

export interface SharedVaultServices {
  access: AccessGrants;
  /** The bridge's hello on links to other bridges, where it offers no capabilities. */
  hello: Hello;
  timing: Timing;
  journal: Pick<Journal, 'head'>;
  /** Additional Prometheus metrics, to be added before the first scrape. */
  figures: MetricDefinition[];
}

const HOST_LABELS = { tab: 'a browser tab', headless: 'the background browser', remote: 'a browser of another computer' };

/** Opens the vault. Rejects with an error for the user if its files can't be read. */
export async function serveVault(options: ServeVaultOptions, deps: VaultDeps): Promise<Vault> {
  const { home, token, journal, vaultKey, browserWay } = options;
  const { name, admission, limiter, timing, about, callbackUrl, via, maxExchanges, ring, log } = deps;
  ring.hide([token, vaultKey]);
  const hosts = new HostRegistry(about.mode, timing);
  const access = await AccessGrants.open(home.accessFile, log);
  const password = new OwnerPassword(home.passwordFile, { warn: log, checkMs: timing.passwordMs });
  const auth = new Authenticator({ token, credentials: await home.credentials(), access, password, limiter });
  hosts.on('join', ({ kind, build }) => log(`Connected to ${HOST_LABELS[kind]} (build ${build})`));
  hosts.on('attach', (kind) => log(`The gateway runs in ${HOST_LABELS[kind]}`));
  hosts.on('leave', ({ kind }, code, reason) => log(`Disconnected from ${HOST_LABELS[kind]}: ${reason || 'connection lost'} (${code})`));

  const gauge = new InFlightCounter();
  const exchanges = new ExchangeRegistry();
  const routeCache = new RouteCache(via);
  const receipts = await ReceiptQueue.open({ path: home.receiptsFile, hosts, retryMs: timing.receiptsMs, log });
  const ports = createHostPorts({
    ...{ name, journal, vaultKey, browserWay, access, linked: { home, auth }, hosts, home: home.dir, callbackUrl },
    ...{ via, exchanges, routeCache, ring, log, presenceMs: timing.presenceMs },
    system: { home, ...about },
  });
  const hello: Hello = {
    muxVersion: MUX_VERSION,
    portsVersion: PORTS_VERSION,
    schemaVersion: SCHEMA_VERSION,
    build: about.build,
    capabilities: ports.names,
  };
  const uplinkDeps = { auth, hosts, timing, hello, onstream: ports.serve, log };
  const uplinks = new Set<WebSocket>();
  const uplinkGauge = new InFlightCounter();
  const answers = new Map<number, number>();
  const api = createApiListener({
    admission,
    auth,
    hosts,
    journal,
    timing,
    gauge,
    maxExchanges,
    via,
    exchanges,
    receipts,
    routeCache,
    log,
  });

  const responses = new ResponsesSockets({ auth, hosts, journal, timing, gauge, maxExchanges, via });

  return {
    ...{ name, home, admission, auth, hosts, journal, codes: new LinkCodes(), exchanges: gauge, answers, responses, log },
    shared: { access, hello: { ...hello, capabilities: [] }, timing, journal, figures: [] },
    api(request, response) {
      response.once('close', () => answers.set(response.statusCode, (answers.get(response.statusCode) ?? 0) + 1));
      api(request, response);
    },
    hooks: createHookListener({ hosts, journal, timing, gauge, log }),
    callback: createOauthCallback({ name, admission, hosts, journal, limiter, timing, gauge, log }),
    hostCredential: () => auth.issueHeadless(),
    uplink(socket, origin) {
      const endUplink = uplinkGauge.begin();
      uplinks.add(socket);
      socket.on('close', () => (uplinks.delete(socket), endUplink()));
      serveUplink(socket, origin, uplinkDeps).catch((error: unknown) => {
        log(`A host couldn’t attach: ${error instanceof Error ? error.message : String(error)}`);
        socket.close(CLOSE_CODES.internal, 'internal bridge error');
      });
    },
    async dismiss({ code, reason }) {
      responses.close(code, reason);
      await gauge.whenIdle(timing.graceMs);
      await receipts.close(timing.graceMs);
      hosts.close(code, reason);
      for (const uplink of uplinks) uplink.close(code, reason);
      await uplinkGauge.whenIdle(timing.closeMs);
      await ports.close();
    },
    close: async () => void (await Promise.all([receipts.writeDown(), access.idle()])),
  };
}
