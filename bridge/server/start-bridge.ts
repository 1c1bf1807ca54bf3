import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import fastify, { type FastifyError } from 'fastify';
import { isHookUrl } from '#shared/http/hook-path.ts';
import { MESSAGES_REQUEST_ID_HEADER } from '#shared/http/messages-api.ts';
import { REQUEST_ID_HEADER, toRequestId } from '#shared/http/request-id.ts';
import type { Credential } from '#shared/link/link-credentials.ts';
import { PROTOCOL_LIMITS } from '#shared/rpc/frames.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { LogRing } from '../log-ring.ts';
import { createServer } from '../node-http.ts';
import { Admission, toAdmissionRequest } from './admission.ts';
import { serveAppFiles, isNavigation, isReserved, readBuildInfo } from './app-files.ts';
import { AuthLimiter } from './auth-limiter.ts';
import { getRequestToken } from './auth.ts';
import { readCertificate, type TlsFiles } from './certificate.ts';
import { ClientSockets } from './clients.ts';
import type { HostMode } from './host-rank.ts';
import type { HostRegistry } from './hosts.ts';
import { createErrorBody, isMessagesRequest, rejectMalformed, sendError } from './http-errors.ts';
import { isApiUrl } from './api-listener.ts';
import { registerLinkRoutes } from './link-routes.ts';
import { coversLoopback, isLoopbackBind, listen } from './listen.ts';
import { disableSchemas } from './no-schemas.ts';
import { toCallbackPath } from './oauth-callback.ts';
import { registerPushAnswerRoute } from './push-answer-route.ts';
import { registerOperationsRoutes } from './operations-routes.ts';
import { getAdvertisedUrls } from './advertised-urls.ts';
import { startCertificateRenewal } from './certificate-renewal.ts';
import { type BudgetLimits, SocketBudget } from './socket-budget.ts';
import { TIMING, type Timing } from './timing.ts';
import { createTlsFront } from './tls-front.ts';
import { NO_VAULT } from './no-vault.ts';
import { createUpgradeHandler } from './upgrades.ts';
import {
  type ShutdownReason,
  serveVault,
  type SharedVaultServices,
  type Vault,
  type VaultDeps,
  type ServeVaultOptions,
} from './serve-vault.ts';
import { VaultRegistry } from './vault-registry.ts';

/** A vault in addition to the home's own. Its origin is `<name>.localhost`. */
export type NamedVault = ServeVaultOptions & Pick<VaultDeps, 'name' | 'ring' | 'log'>;

export interface BridgeOptions extends ServeVaultOptions {
  others?: readonly NamedVault[];
  /** 0 picks a free port. */
  port: number;
  /** IP address or `localhost`. Other than loopback requires `expose`. */
  bind: string;
  /** Hosts that may be active (host-rank.ts). */
  mode: HostMode;
  /** Folder of the built app. */
  appDir: string;
  /** Serve the API to other machines. Without `tls`, the app is available on this machine only. */
  expose?: boolean;
  /** Certificate files: other machines are served over TLS only, including the app of the home's own vault. */
  tls?: TlsFiles | undefined;
  /** Additional host names, without a port, and origins that may call. */
  hosts?: readonly string[];
  origins?: readonly string[];
  /** False asks the host not to limit the rate of sockets (benchmarks). Failed authentication is limited regardless. */
  rateLimits?: boolean;
  log?: (line: string) => void;
  /** Ring buffer that `log` also writes to. Default: a new one with the bridge's lines. */
  ring?: LogRing;
  /** Overrides for tests. */
  timing?: Partial<Timing>;
}

/** A vault served by a bridge. */
export interface ServedVault {
  /** Empty for the home's own. */
  readonly name: string;
  /** Origin of its pages. */
  readonly origin: string;
  readonly hosts: HostRegistry;
  /** Parts of the vault shared with other bridges (bridge/cluster). */
  readonly shared: SharedVaultServices;
  /** Issues a single-use code for linking a browser, used in the app's URL as `#link=<code>`. */
  issueCode(ttlMs: number): string;
  /** Issues a new credential for the managed Chromium and invalidates the previous one. Never stored. */
  readonly hostCredential: () => Credential;
  /** Number of connected clients and requests in progress. */
  callers(): number;
}

/** A running bridge. Members of `ServedVault` refer to the home's own vault. */
export interface Bridge extends Omit<ServedVault, 'name' | 'origin'> {
  /** Canonical origin. */
  readonly url: string;
  /** Address and port that it listens on, as `address:port`. */
  readonly address: string;
  /** URL of the app for browsers on other machines; undefined if they can't open it. */
  readonly elsewhere: string | undefined;
  /** All served vaults, the home's own first. */
  readonly vaults: readonly ServedVault[];
  /** Number of connected clients, of sockets before `connect`, and of bytes that clients have not taken yet. */
  stats(): { clients: number; silent: number; unsentBytes: number };
  /** Notifies clients and hosts, gives requests in progress a moment to finish, and frees the port. May be called twice. */
  close(reason?: ShutdownReason): Promise<void>;
}

const SECURITY_HEADERS = Object.entries({
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
});

/** Interval at which Node checks for slow requests. */
const CHECK_MS = 5_000;
/** Limits for connections that have not sent a complete request head. */
const UNREQUESTED_LIMITS: BudgetLimits = { max: 1024, maxPerAddress: 128 };

const SERVER_CLOSING: ShutdownReason = { code: 1001, reason: 'The gateway is shutting down' };

/** Starts the bridge. Rejects with an error for the user if it can't serve. */
export async function startBridge(options: BridgeOptions): Promise<Bridge> {
  const { port, bind, mode, appDir, expose = false, others = [] } = options;
  if (options.tls && (isLoopbackBind(bind) || !expose)) throw new Error('TLS only applies to other computers. Add --bind and --expose.');
  if (!isLoopbackBind(bind) && !expose) {
    throw new Error(
      `${bind} can be reached from other computers. Use --bind 127.0.0.1, or add --expose to serve the API there. Add --tls-cert and --tls-key to serve the app too.`,
    );
  }
  if ([options, ...others].some(({ token }) => token === '')) throw new Error('The token is empty');
  const ring = options.ring ?? new LogRing();
  const log = (line: string): void => {
    if (!options.ring) ring.write(line);
    options.log?.(line);
  };
  const certificate = options.tls && (await readCertificate(options.tls));
  const timing: Timing = { ...TIMING, ...options.timing };
  const { build, workerCsp } = await readBuildInfo(appDir);
  const limiter = new AuthLimiter({ onlock: (key) => log(`Too many failed attempts (${key}). Locked out for 5 minutes`) });

  let closing = false;
  let vaults: VaultRegistry | undefined;
  /** Wraps every listener: nothing is routed before admission. */
  const guarded =
    (route: RequestListener) =>
    (request: IncomingMessage, response: ServerResponse): void => {
      unrequested.delete(request.socket);
      for (const [name, value] of SECURITY_HEADERS) response.setHeader(name, value);
      if (isApiUrl(request.url)) {
        request.headers[REQUEST_ID_HEADER] = toRequestId(request.headers[REQUEST_ID_HEADER]);
        response.setHeader(REQUEST_ID_HEADER, request.headers[REQUEST_ID_HEADER]);
        if (isMessagesRequest(request)) response.setHeader(MESSAGES_REQUEST_ID_HEADER, request.headers[REQUEST_ID_HEADER]);
      }
      if (request.headers.host === undefined && request.httpVersion !== '1.0')
        return sendError(response, 400, 'The Host header is missing', { connection: 'close' });
      const navigation = isNavigation(request.method, request.headers.accept) && !isReserved(request.url ?? '');
      if (!vaults) return sendError(response, 503, 'The gateway is starting', { connection: 'close' });
      const refusal = vaults.byHost(request).admission.refuse(toAdmissionRequest(request), navigation);
      if (refusal) return sendError(response, refusal.status, refusal.message, { connection: 'close' });
      if (closing) return sendError(response, 503, SERVER_CLOSING.reason, { 'retry-after': '1', connection: 'close' });
      if (!vaults.getCandidates(request)) return sendError(response, 404, NO_VAULT);
      if (isApiUrl(request.url)) return vaults.byToken(request, getRequestToken(request)).api(request, response);
      if (isHookUrl(request.url)) return (vaults.getCandidates(request) ?? [vaults.first])[0].hooks(request, response);
      const returned = vaults.byCallback(request);
      if (returned) returned.callback(request, response);
      else route(request, response);
    };
  const servers: (Server | SecureServer)[] = [];
  const unrequested = new SocketBudget<Socket>(UNREQUESTED_LIMITS, (socket) => socket.destroy());
  // Node answers requests without a Host header with an empty response; admission answers them here.
  const settings = {
    ...{ shouldUpgradeCallback: wantsWebSocket, requireHostHeader: false },
    ...{ headersTimeout: timing.headMs, requestTimeout: timing.requestMs },
    connectionsCheckingInterval: Math.min(timing.headMs, CHECK_MS),
  };
  const addServer = <S extends Server | SecureServer>(
    server: S,
    listener: RequestListener,
    opened: 'connection' | 'secureConnection',
  ): S => {
    server.on(opened, (socket: Socket) => {
      unrequested.add(socket, socket.remoteAddress);
      socket.once('close', () => unrequested.delete(socket));
    });
    server.on('checkExpectation', listener);
    server.keepAliveTimeout = 72_000;
    servers.push(server);
    return server;
  };
  const makeServer = (route: RequestListener): Server => {
    const listener = guarded(route);
    return addServer(createServer(settings, listener), listener, 'connection');
  };

  let route: RequestListener = () => {};
  const app = fastify({
    logger: false,
    bodyLimit: 64 * 1024,
    schemaController: disableSchemas,
    serverFactory: (handler) => {
      route = handler;
      return makeServer(handler);
    },
    clientErrorHandler: rejectMalformed,
    frameworkErrors: (error, _request, reply) => {
      reply.hijack();
      sendError(reply.raw, error.statusCode ?? 400, error.message);
    },
  });
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const status = error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500 ? error.statusCode : 500;
    if (status === 500) log(`${request.method} ${request.url.replace(/\?.*/, '')} failed: ${error.message}`);
    return reply.code(status).send(createErrorBody(status, status === 500 ? 'Internal bridge error' : error.message));
  });

  // Routes need the canonical origin, which includes the port. Requests are rejected until then.
  const encrypted = guarded(route);
  const front = certificate && createTlsFront(app.server, certificate, settings, encrypted);
  if (front) addServer(front.secure, encrypted, 'secureConnection').on('clientError', rejectMalformed);
  const listening = await listen(front?.listener ?? app.server, port, bind);
  const host = bind === 'localhost' || !isLoopbackBind(bind) ? '127.0.0.1' : bind.includes(':') ? `[${bind}]` : bind;
  const url = new URL(`http://${host}:${listening.port}`).origin;
  const admissionAt = (origin: string): Admission =>
    new Admission(origin, listening.port, {
      ...{ hosts: options.hosts, origins: options.origins, exposed: expose },
      // Pages of vaults other than the home's own are available on this machine only.
      secureHosts: origin === url ? certificate?.names : [],
    });
  const renewals = front && options.tls && startCertificateRenewal({ files: options.tls, front, log });

  const stop = async (): Promise<void> => {
    renewals?.stop();
    front?.close();
    for (const server of servers) server.close();
    for (const server of servers) server.closeAllConnections();
    await app.close();
  };
  try {
    const buildInfo = { version: packageJson.version, build, mode };
    // Maximum number of connections per vault, so that each gets an equal share.
    const share = Math.floor(PROTOCOL_LIMITS.maxConnections / (1 + others.length));
    const common = { limiter, timing, about: buildInfo, maxExchanges: share };
    const bridgeId = randomUUID();
    const serve = (name: string, origin: string, vault: ServeVaultOptions, sink: Pick<VaultDeps, 'ring' | 'log'>): Promise<Vault> =>
      serveVault(vault, {
        ...common,
        ...sink,
        via: vault.via ?? bridgeId,
        name,
        admission: admissionAt(origin),
        callbackUrl: `${url}${toCallbackPath(name)}`,
      });
    const first = await serve('', url, options, { ring, log });
    const served = new VaultRegistry(
      first,
      await Promise.all(others.map((each) => serve(each.name, toVaultOrigin(each.name, listening.port), each, each))),
    );
    const clients = new ClientSockets({ vaults: served, timing, share, rateLimits: options.rateLimits !== false });
    const reach = getAdvertisedUrls(bind, listening.port, certificate);
    const remoteAppUrl = certificate && toAppOrigin(reach[0]);
    registerLinkRoutes(app, served, remoteAppUrl);
    registerPushAnswerRoute(app, { vaults: served, limiter });
    registerOperationsRoutes(app, { vaults: served, clients, about: buildInfo, reach });
    await app.register(serveAppFiles, { appDir, workerCsp, vaults: served });
    await app.ready();

    const onupgrade = createUpgradeHandler({ vaults: served, clients, timing, closing: () => closing });
    // If exposed at one address only, the app and its host still need the loopback address.
    if (!isLoopbackBind(bind) && !coversLoopback(bind)) {
      await listen(makeServer(route).on('clientError', rejectMalformed), listening.port, '127.0.0.1');
    }
    for (const server of servers)
      server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
        unrequested.delete(request.socket);
        onupgrade(request, socket, head);
      });
    vaults = served;

    const close = async (reason: ShutdownReason): Promise<void> => {
      closing = true;
      await Promise.all([clients.close(reason.code, reason.reason), ...served.all.map((vault) => vault.dismiss(reason))]);
      await stop();
      await Promise.all(served.all.map((vault) => vault.close()));
    };
    let closed: Promise<void> | undefined;
    return {
      url,
      address: listening.address,
      elsewhere: remoteAppUrl,
      ...toVaultOptions(first, clients),
      vaults: served.all.map((vault) => toVaultOptions(vault, clients)),
      stats: () => ({ clients: clients.size, silent: clients.silent, unsentBytes: clients.unsent }),
      close: (reason = SERVER_CLOSING) => (closed ??= close(reason)),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Origin of the app for a WebSocket URL. */
const toAppOrigin = (socket: string | undefined): string | undefined => socket && `https://${new URL(socket).host}`;

/** A client that offers HTTP/2 with `Upgrade: h2c` is answered in HTTP/1.1. */
const wantsWebSocket = (request: IncomingMessage): boolean => request.headers.upgrade?.toLowerCase() === 'websocket';

/** Browsers treat names under `localhost` as loopback (RFC 6761, section 6.3), each as an origin with its own data. */
const toVaultOrigin = (name: string, port: number): string => new URL(`http://${name}.localhost:${port}`).origin;

const toVaultOptions = (vault: Vault, clients: ClientSockets): ServedVault => ({
  ...{ name: vault.name, origin: vault.admission.origin, hosts: vault.hosts, shared: vault.shared, hostCredential: vault.hostCredential },
  issueCode: (ttlMs) => vault.codes.issue(ttlMs),
  callers: () => clients.of(vault).size + vault.exchanges.count,
});
