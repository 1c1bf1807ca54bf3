import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import fastify, { type FastifyError } from 'fastify';
import { MESSAGES_REQUEST_ID } from '#shared/http/messages-api.ts';
import { REQUEST_ID, requestIdOf } from '#shared/http/request-id.ts';
import type { Credential } from '#shared/link/proof.ts';
import { LIMITS } from '#shared/rpc/frames.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { LogRing } from '../log-ring.ts';
import { createServer } from '../node-http.ts';
import { Admission, arrivalOf } from './admission.ts';
import { appFiles, isNavigation, isReserved, readBuildInfo } from './app-files.ts';
import { AuthLimiter } from './auth-limiter.ts';
import { tokenOf } from './auth.ts';
import { readCertificate, type TlsFiles } from './certificate.ts';
import { Clients } from './clients.ts';
import type { HostMode } from './host-rank.ts';
import type { Hosts } from './hosts.ts';
import { errorBody, isMessagesRequest, refuseUnreadable, sendError } from './http-errors.ts';
import { isApi } from './http.ts';
import { linkRoutes } from './link.ts';
import { coversLoopback, isLoopbackBind, listen } from './listen.ts';
import { noSchemas } from './no-schemas.ts';
import { callbackPath } from './oauth-callback.ts';
import { operationsRoutes } from './operations.ts';
import { reachOf } from './reach.ts';
import { renewing } from './renewing.ts';
import { type BudgetLimits, SocketBudget } from './socket-budget.ts';
import { TIMING, type Timing } from './timing.ts';
import { tlsFront } from './tls-front.ts';
import { NO_VAULT } from './no-vault.ts';
import { upgrades } from './upgrades.ts';
import { type Farewell, serveVault, type SharedParts, type Vault, type VaultDeps, type VaultOptions } from './vault.ts';
import { Vaults } from './vaults.ts';

/** A vault beside the home's own: its name is that of its origin, `<name>.localhost`. */
export type NamedVault = VaultOptions & Pick<VaultDeps, 'name' | 'ring' | 'log'>;

export interface BridgeOptions extends VaultOptions {
  others?: readonly NamedVault[];
  /** 0: any free one. */
  port: number;
  /** An IP address or `localhost`. One that is not loopback is refused without `expose`. */
  bind: string;
  /** Who may serve (host-rank.ts). */
  mode: HostMode;
  /** The built app. */
  appDir: string;
  /** Serve the API to other machines; the app stays on this one without `tls`. */
  expose?: boolean;
  /** Other machines are served over TLS alone, and the app of the home's own vault too. */
  tls?: TlsFiles | undefined;
  /** Names beside the loopback ones, without a port, and origins that may call. */
  hosts?: readonly string[];
  origins?: readonly string[];
  /** False: the host is asked not to limit the rate of sockets (benchmarks). Failed credentials are limited all the same. */
  rateLimits?: boolean;
  log?: (line: string) => void;
  /** What `log` writes to beside; else one that has what the bridge itself says. */
  ring?: LogRing;
  /** For tests. */
  timing?: Partial<Timing>;
}

/** A vault that a bridge serves. */
export interface ServedVault {
  /** Empty for the home's own. */
  readonly name: string;
  /** The origin of its pages. */
  readonly origin: string;
  readonly hosts: Hosts;
  /** What other bridges of the vault share with this one (bridge/cluster). */
  readonly shared: SharedParts;
  /** A single-use code for linking a browser; goes into the app's address as `#link=<code>`. */
  issueCode(ttlMs: number): string;
  /** A new credential for the managed Chromium, never stored; the one before is void. */
  readonly hostCredential: () => Credential;
  /** Clients that are connected, and requests under way. */
  callers(): number;
}

/** What it does for the home's own vault is its own. */
export interface Bridge extends Omit<ServedVault, 'name' | 'origin'> {
  /** The canonical origin. */
  readonly url: string;
  /** Where it listens, `address:port`. */
  readonly address: string;
  /** Where browsers of other machines open the app; undefined where they cannot. */
  readonly elsewhere: string | undefined;
  /** All that it serves, the home's own first. */
  readonly vaults: readonly ServedVault[];
  /** Connected clients, sockets before `connect`, and bytes held here that clients have not taken yet. */
  stats(): { clients: number; silent: number; unsentBytes: number };
  /** Tells clients and hosts, lets requests under way finish for a moment, and frees the port. May be called twice. */
  close(farewell?: Farewell): Promise<void>;
}

const SECURITY_HEADERS = Object.entries({
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
});

/** Interval in which Node looks for requests that are too slow. */
const CHECK_MS = 5_000;
/** Connections that have not sent a whole request head. */
const UNASKED: BudgetLimits = { max: 1024, maxPerAddress: 128 };

const CLOSING: Farewell = { code: 1001, reason: 'The gateway is shutting down' };

/** Starts the bridge: a pipe with locks on it (design.md). Rejects, with a sentence for people, where it cannot serve. */
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
  let vaults: Vaults | undefined;
  /** The front door of every listener: nothing is routed before admission. */
  const guarded =
    (route: RequestListener) =>
    (request: IncomingMessage, response: ServerResponse): void => {
      unasked.delete(request.socket);
      for (const [name, value] of SECURITY_HEADERS) response.setHeader(name, value);
      if (isApi(request.url)) {
        request.headers[REQUEST_ID] = requestIdOf(request.headers[REQUEST_ID]);
        response.setHeader(REQUEST_ID, request.headers[REQUEST_ID]);
        if (isMessagesRequest(request)) response.setHeader(MESSAGES_REQUEST_ID, request.headers[REQUEST_ID]);
      }
      if (request.headers.host === undefined && request.httpVersion !== '1.0')
        return sendError(response, 400, 'The Host header is missing', { connection: 'close' });
      const navigation = isNavigation(request.method, request.headers.accept) && !isReserved(request.url ?? '');
      if (!vaults) return sendError(response, 503, 'The gateway is starting', { connection: 'close' });
      const refusal = vaults.door(request).admission.refuse(arrivalOf(request), navigation);
      if (refusal) return sendError(response, refusal.status, refusal.message, { connection: 'close' });
      if (closing) return sendError(response, 503, CLOSING.reason, { 'retry-after': '1', connection: 'close' });
      if (!vaults.among(request)) return sendError(response, 404, NO_VAULT);
      if (isApi(request.url)) return vaults.byToken(request, tokenOf(request)).api(request, response);
      const returned = vaults.byCallback(request);
      if (returned) returned.callback(request, response);
      else route(request, response);
    };
  const servers: (Server | SecureServer)[] = [];
  const unasked = new SocketBudget<Socket>(UNASKED, (socket) => socket.destroy());
  // Node itself answers without a Host with nothing in it.
  const settings = {
    ...{ shouldUpgradeCallback: wantsWebSocket, requireHostHeader: false },
    ...{ headersTimeout: timing.headMs, requestTimeout: timing.requestMs },
    connectionsCheckingInterval: Math.min(timing.headMs, CHECK_MS),
  };
  const kept = <S extends Server | SecureServer>(server: S, listener: RequestListener, opened: 'connection' | 'secureConnection'): S => {
    server.on(opened, (socket: Socket) => {
      unasked.add(socket, socket.remoteAddress);
      socket.once('close', () => unasked.delete(socket));
    });
    server.on('checkExpectation', listener);
    server.keepAliveTimeout = 72_000;
    servers.push(server);
    return server;
  };
  const makeServer = (route: RequestListener): Server => {
    const listener = guarded(route);
    return kept(createServer(settings, listener), listener, 'connection');
  };

  let route: RequestListener = () => {};
  const app = fastify({
    logger: false,
    bodyLimit: 64 * 1024,
    schemaController: noSchemas,
    serverFactory: (handler) => {
      route = handler;
      return makeServer(handler);
    },
    clientErrorHandler: refuseUnreadable,
    frameworkErrors: (error, _request, reply) => {
      reply.hijack();
      sendError(reply.raw, error.statusCode ?? 400, error.message);
    },
  });
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const status = error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500 ? error.statusCode : 500;
    if (status === 500) log(`${request.method} ${request.url.replace(/\?.*/, '')} failed: ${error.message}`);
    return reply.code(status).send(errorBody(status, status === 500 ? 'Internal bridge error' : error.message));
  });

  // The port must be known before routes are made, for the canonical origin is made of it; until then nobody is let in.
  const encrypted = guarded(route);
  const front = certificate && tlsFront(app.server, certificate, settings, encrypted);
  if (front) kept(front.secure, encrypted, 'secureConnection').on('clientError', refuseUnreadable);
  const listening = await listen(front?.listener ?? app.server, port, bind);
  const host = bind === 'localhost' || !isLoopbackBind(bind) ? '127.0.0.1' : bind.includes(':') ? `[${bind}]` : bind;
  const url = new URL(`http://${host}:${listening.port}`).origin;
  const admissionAt = (origin: string): Admission =>
    new Admission(origin, listening.port, {
      ...{ hosts: options.hosts, origins: options.origins, exposed: expose },
      // A vault beside the home's own has its pages on this machine alone.
      secureHosts: origin === url ? certificate?.names : [],
    });
  const renewals = front && options.tls && renewing({ files: options.tls, front, log });

  const stop = async (): Promise<void> => {
    renewals?.stop();
    front?.close();
    for (const server of servers) server.close();
    for (const server of servers) server.closeAllConnections();
    await app.close();
  };
  try {
    const about = { version: packageJson.version, build, mode };
    // Each may have so many that the others have as many.
    const share = Math.floor(LIMITS.maxConnections / (1 + others.length));
    const common = { limiter, timing, about, maxExchanges: share };
    const own = randomUUID();
    const serve = (name: string, origin: string, vault: VaultOptions, sink: Pick<VaultDeps, 'ring' | 'log'>): Promise<Vault> =>
      serveVault(vault, {
        ...common,
        ...sink,
        via: vault.via ?? own,
        name,
        admission: admissionAt(origin),
        callbackUrl: `${url}${callbackPath(name)}`,
      });
    const first = await serve('', url, options, { ring, log });
    const served = new Vaults(
      first,
      await Promise.all(others.map((each) => serve(each.name, originOf(each.name, listening.port), each, each))),
    );
    const clients = new Clients({ vaults: served, timing, share, rateLimits: options.rateLimits !== false });
    const reach = reachOf(bind, listening.port, certificate);
    const elsewhere = certificate && appAt(reach[0]);
    linkRoutes(app, served, elsewhere);
    operationsRoutes(app, { vaults: served, clients, about, reach });
    await app.register(appFiles, { appDir, workerCsp, vaults: served });
    await app.ready();

    const onupgrade = upgrades({ vaults: served, clients, timing, closing: () => closing });
    // Exposed at one address only, the app and its host still need the loopback one.
    if (!isLoopbackBind(bind) && !coversLoopback(bind)) {
      await listen(makeServer(route).on('clientError', refuseUnreadable), listening.port, '127.0.0.1');
    }
    for (const server of servers)
      server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
        unasked.delete(request.socket);
        onupgrade(request, socket, head);
      });
    vaults = served;

    const close = async (farewell: Farewell): Promise<void> => {
      closing = true;
      await Promise.all([clients.close(farewell.code, farewell.reason), ...served.all.map((vault) => vault.dismiss(farewell))]);
      await stop();
      await Promise.all(served.all.map((vault) => vault.close()));
    };
    let closed: Promise<void> | undefined;
    return {
      url,
      address: listening.address,
      elsewhere,
      ...openOf(first, clients),
      vaults: served.all.map((vault) => openOf(vault, clients)),
      stats: () => ({ clients: clients.size, silent: clients.silent, unsentBytes: clients.unsent }),
      close: (farewell = CLOSING) => (closed ??= close(farewell)),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The app's origin beside this socket. */
const appAt = (socket: string | undefined): string | undefined => socket && `https://${new URL(socket).host}`;

/** A client that offers HTTP/2 by `Upgrade: h2c` is answered in HTTP/1.1, not refused. */
const wantsWebSocket = (request: IncomingMessage): boolean => request.headers.upgrade?.toLowerCase() === 'websocket';

/** Names under `localhost` are loopback ones for browsers (RFC 6761, section 6.3), and each is an origin of its own, with data of its own. */
const originOf = (name: string, port: number): string => new URL(`http://${name}.localhost:${port}`).origin;

const openOf = (vault: Vault, clients: Clients): ServedVault => ({
  ...{ name: vault.name, origin: vault.admission.origin, hosts: vault.hosts, shared: vault.shared, hostCredential: vault.hostCredential },
  issueCode: (ttlMs) => vault.codes.issue(ttlMs),
  callers: () => clients.of(vault).size + vault.exchanges.count,
});
