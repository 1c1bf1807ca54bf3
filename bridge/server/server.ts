import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import fastify, { type FastifyError } from 'fastify';
import type { WebSocket } from 'ws';
import { REQUEST_ID, requestIdOf } from '#shared/http/request-id.ts';
import type { BrowserWay } from '#shared/sync/nats/way.ts';
import { type Hello, MUX_VERSION, PORTS_VERSION, SCHEMA_VERSION } from '#shared/link/hello.ts';
import type { BridgeHealth, Credential } from '#shared/link/proof.ts';
import { CLOSE, LIMITS } from '#shared/rpc/frames.ts';
import packageJson from '../../package.json' with { type: 'json' };
import type { Home } from '../home.ts';
import type { Journal } from '../journal/journal.ts';
import { LogRing } from '../log-ring.ts';
import { createServer } from '../node-http.ts';
import { Password } from '../password.ts';
import { Access } from './access.ts';
import { Admission } from './admission.ts';
import { appFiles, arrivalOf, isNavigation, isReserved, readBuildInfo } from './app-files.ts';
import { AuthLimiter } from './auth-limiter.ts';
import { Auth } from './auth.ts';
import { Clients } from './clients.ts';
import { Exchanges } from './exchange.ts';
import { Standing } from './standing.ts';
import { Gauge } from './gauge.ts';
import type { HostMode } from './host-rank.ts';
import { Hosts } from './hosts.ts';
import { errorBody, refuseUnreadable, sendError } from './http-errors.ts';
import { apiListener, isApi } from './http.ts';
import { LinkCodes } from './link-codes.ts';
import { linkRoutes } from './link.ts';
import { reachOf } from './reach.ts';
import { coversLoopback, isLoopbackBind, listen } from './listen.ts';
import { noSchemas } from './no-schemas.ts';
import { isOauthCallback, oauthCallback } from './oauth-callback.ts';
import { operationsRoutes } from './operations.ts';
import { lendPorts } from './ports.ts';
import { Receipts } from './receipts.ts';
import { TIMING, type Timing } from './timing.ts';
import { upgrades } from './upgrades.ts';
import { serveUplink } from './uplink.ts';

export interface BridgeOptions {
  /** 0: any free one. */
  port: number;
  /** An IP address or `localhost`. One that is not loopback is refused without `expose`. */
  bind: string;
  home: Home;
  /** The owner's token. */
  token: string;
  /** The vault's journal. It stays the caller's, who closes it behind the bridge. */
  journal: Journal;
  /** What secrets are sealed with in this vault: 256 bit, base64url. Attached hosts are given it. */
  vaultKey: string;
  /** How attached browsers reach the cluster that the vault is shared over, when this bridge is not there; without it: not at all. */
  browserWay?: (() => Promise<BrowserWay | null>) | undefined;
  /** Who may serve (host-rank.ts). */
  mode: HostMode;
  /** The built app. */
  appDir: string;
  /** Serve the API to other machines; the app stays on this one. */
  expose?: boolean;
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

export interface Bridge {
  /** The canonical origin. */
  readonly url: string;
  /** Where it listens, `address:port`. */
  readonly address: string;
  readonly hosts: Hosts;
  /** A single-use code for linking a browser; goes into the app's address as `#link=<code>`. */
  issueCode(ttlMs: number): string;
  /** A new credential for the managed Chromium, never stored; the one before is void. */
  hostCredential(): Credential;
  /** Connected clients, and bytes held here that they have not taken yet. */
  stats(): { clients: number; unsentBytes: number };
  /** Tells clients and hosts, lets requests under way finish for a moment, and frees the port. May be called twice. */
  close(): Promise<void>;
}

const SECURITY_HEADERS = Object.entries({
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
});

const CLOSING = { code: 1001, reason: 'the gateway is closing' };

/** Starts the bridge: a pipe with locks on it (design.md). Rejects, with a sentence for people, where it cannot serve. */
export async function startBridge(options: BridgeOptions): Promise<Bridge> {
  const { port, bind, home, token, journal, vaultKey, browserWay, mode, appDir, expose = false } = options;
  if (!isLoopbackBind(bind) && !expose) {
    throw new Error(`${bind} is reachable from other machines: bind to 127.0.0.1, or say --expose to serve the API (not the app) there`);
  }
  if (token === '') throw new Error('the token is empty');
  const ring = options.ring ?? new LogRing();
  ring.hide([token, vaultKey]);
  const log = (line: string): void => {
    if (!options.ring) ring.write(line);
    options.log?.(line);
  };
  const timing: Timing = { ...TIMING, ...options.timing };
  const { build, workerCsp } = await readBuildInfo(appDir);
  const hosts = new Hosts(mode, timing);
  const limiter = new AuthLimiter({ onlock: (key) => log(`too many failed tries (${key}): locked out for 5 minutes`) });
  const access = await Access.open(home.accessFile, log);
  const password = new Password(home.passwordFile, { warn: log, lookMs: timing.passwordMs });
  const auth = new Auth({ token, credentials: await home.credentials(), access, password, limiter });
  const codes = new LinkCodes();
  const clients = new Clients({ auth, hosts, journal, timing, rateLimits: options.rateLimits !== false });
  hosts.on('join', ({ kind, build: theirs }) => log(`a host is attached (${kind}, build ${theirs})`));
  hosts.on('attach', (kind) => log(`${kind === 'tab' ? 'a tab' : 'the managed Chromium'} serves`));
  hosts.on('leave', ({ kind }, code, reason) => log(`a host (${kind}) is gone: ${reason || 'its connection broke'} (${code})`));

  /** Of `/v1` and `/mcp`, by status. */
  const answers = new Map<number, number>();
  let closing = false;
  let admission: Admission | undefined;
  let api: RequestListener = () => {};
  let callback: RequestListener = () => {};
  /** The front door of every listener: nothing is routed before admission. */
  const guarded =
    (route: RequestListener) =>
    (request: IncomingMessage, response: ServerResponse): void => {
      for (const [name, value] of SECURITY_HEADERS) response.setHeader(name, value);
      if (isApi(request.url)) {
        request.headers[REQUEST_ID] = requestIdOf(request.headers[REQUEST_ID]);
        response.setHeader(REQUEST_ID, request.headers[REQUEST_ID]);
        response.once('close', () => answers.set(response.statusCode, (answers.get(response.statusCode) ?? 0) + 1));
      }
      if (request.headers.host === undefined && request.httpVersion !== '1.0')
        return sendError(response, 400, 'a request names the host that it is for (Host)', { connection: 'close' });
      const navigation = isNavigation(request.method, request.headers.accept) && !isReserved(request.url ?? '');
      const refusal = admission?.refuse(arrivalOf(request), navigation) ?? (admission ? undefined : { status: 503, message: 'starting' });
      if (refusal) return sendError(response, refusal.status, refusal.message, { connection: 'close' });
      if (closing) return sendError(response, 503, CLOSING.reason, { 'retry-after': '1', connection: 'close' });
      if (isApi(request.url)) api(request, response);
      else if (isOauthCallback(request.url)) callback(request, response);
      else route(request, response);
    };
  const servers: Server[] = [];
  const makeServer = (route: RequestListener): Server => {
    const limits = { requestTimeout: 300_000, headersTimeout: 30_000 };
    const listener = guarded(route);
    // Node itself answers these two with nothing in it.
    const server = createServer({ shouldUpgradeCallback: wantsWebSocket, requireHostHeader: false, ...limits }, listener);
    server.on('checkExpectation', listener);
    server.keepAliveTimeout = 72_000;
    servers.push(server);
    return server;
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
    return reply.code(status).send(errorBody(status, status === 500 ? 'the bridge failed' : error.message));
  });

  // The port must be known before routes are made, for the canonical origin is made of it; until then nobody is let in.
  const listening = await listen(app.server, port, bind);
  const host = bind === 'localhost' || !isLoopbackBind(bind) ? '127.0.0.1' : bind.includes(':') ? `[${bind}]` : bind;
  const url = new URL(`http://${host}:${listening.port}`).origin;
  const door = new Admission(url, listening.port, { hosts: options.hosts, origins: options.origins, exposed: expose });

  const stop = async (): Promise<void> => {
    for (const server of servers) server.close();
    for (const server of servers) server.closeAllConnections();
    await app.close();
  };
  try {
    const via = randomUUID();
    const gauge = new Gauge();
    const reach = reachOf(bind, listening.port);
    const exchanges = new Exchanges();
    const standing = new Standing(via);
    const receipts = await Receipts.open({ path: home.receiptsFile, hosts, retryMs: timing.receiptsMs, log });
    const maxExchanges = LIMITS.maxConnections;
    api = apiListener({ admission: door, auth, hosts, journal, timing, gauge, maxExchanges, via, exchanges, receipts, standing, log });
    callback = oauthCallback({ admission: door, hosts, journal, limiter, timing, gauge, log });
    const about = { version: packageJson.version, build, mode };
    linkRoutes(app, { home, admission: door, auth, codes, log });
    app.get('/health', async (request, reply) => {
      reply.header('cache-control', 'no-store');
      return {
        status: hosts.holder ? 'ok' : 'no-host',
        ...about,
        host: hosts.kind,
        hosts: hosts.size,
        ...(reach.length > 0 && door.isLocal(arrivalOf(request.raw)) && { reach }),
      } satisfies BridgeHealth;
    });
    operationsRoutes(app, { auth, hosts, clients, journal, exchanges: gauge, answers, about });
    await app.register(appFiles, { appDir, workerCsp, admission: door });
    await app.ready();

    const ports = lendPorts({
      ...{
        journal,
        vaultKey,
        browserWay,
        access,
        hosts,
        presenceMs: timing.presenceMs,
        home: home.dir,
        origin: door.origin,
        via,
        exchanges,
        standing,
        ring,
        log,
      },
      system: { home, ...about },
    });
    const hello: Hello = {
      muxVersion: MUX_VERSION,
      portsVersion: PORTS_VERSION,
      schemaVersion: SCHEMA_VERSION,
      build,
      capabilities: ports.names,
    };
    const uplinkDeps = { auth, hosts, timing, hello, onstream: ports.serve, log };
    const uplinks = new Set<WebSocket>();
    const uplinkGauge = new Gauge();
    const onupgrade = upgrades({
      admission: door,
      clients,
      timing,
      closing: () => closing,
      uplink(socket, origin) {
        const leave = uplinkGauge.enter();
        uplinks.add(socket);
        socket.on('close', () => (uplinks.delete(socket), leave()));
        serveUplink(socket, origin, uplinkDeps).catch((error: unknown) => {
          log(`a host could not attach: ${error instanceof Error ? error.message : String(error)}`);
          socket.close(CLOSE.internal, 'the bridge failed');
        });
      },
    });
    // Exposed at one address only, the app and its host still need the loopback one.
    if (!isLoopbackBind(bind) && !coversLoopback(bind)) {
      await listen(makeServer(route).on('clientError', refuseUnreadable), listening.port, '127.0.0.1');
    }
    for (const server of servers)
      server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => onupgrade(request, socket, head));
    admission = door;

    const close = async (): Promise<void> => {
      closing = true;
      const clientsGone = clients.close(CLOSING.code, CLOSING.reason);
      await gauge.idle(timing.graceMs);
      await receipts.close(timing.graceMs);
      hosts.close(CLOSING.code, CLOSING.reason);
      for (const uplink of uplinks) uplink.close(CLOSING.code, CLOSING.reason);
      await Promise.all([clientsGone, uplinkGauge.idle(timing.closeMs)]);
      await ports.close();
      await stop();
      await Promise.all([receipts.writeDown(), access.idle()]);
    };
    let closed: Promise<void> | undefined;
    return {
      url,
      address: listening.address,
      hosts,
      issueCode: (ttlMs) => codes.issue(ttlMs),
      hostCredential: () => auth.issueHeadless(),
      stats: () => ({ clients: clients.size, unsentBytes: clients.unsent }),
      close: () => (closed ??= close()),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A client that offers HTTP/2 by `Upgrade: h2c` is answered in HTTP/1.1, not refused. */
const wantsWebSocket = (request: IncomingMessage): boolean => request.headers.upgrade?.toLowerCase() === 'websocket';
