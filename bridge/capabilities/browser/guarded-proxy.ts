import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { connect, type LookupFunction, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer, request as httpRequest } from '../../node-http.ts';
import { HOP_BY_HOP_HEADERS } from '../hop-by-hop.ts';
import { pinnedLookup, resolveHost, type ResolveHost } from '../pinned-lookup.ts';
import { HostAllowlist, parseWebUrl } from '../web-guard.ts';

const CONNECT_MS = 15_000;
/** Header of the proxy's own responses. */
export const REFUSED_HEADER = 'x-perch-refused';

interface ProxyOptions {
  /** Returns the private hosts that may currently be requested. */
  allowed(): HostAllowlist;
  resolve?: ResolveHost;
}

/** A proxy on loopback that only connects to permitted addresses. */
export interface GuardedProxy extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** Closes connections to private hosts that are no longer allowed. */
  recheck(): void;
}

/**
 * Starts the proxy, which is a controlled browser's only network access, so that its checks also apply to redirects, popups, frames and
 * workers. It connects to the address that it checked.
 */
export async function startGuardedProxy({ allowed, resolve = resolveHost }: ProxyOptions): Promise<GuardedProxy> {
  const sockets = new Set<Duplex>();
  const allowedConnections: ProxyGuard['free'] = new Map();
  const server = createServer((request, response) => forward(request, response, { allowed: allowed(), resolve, free: allowedConnections }));
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('connect', (request: IncomingMessage, client: Socket, head: Buffer) =>
    tunnel(request, client, head, { allowed: allowed(), resolve, free: allowedConnections }),
  );
  server.on('upgrade', (_request, socket: Socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  server.on('clientError', (_error, socket) => socket.destroy());
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen(0, '127.0.0.1', done);
  });
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    recheck() {
      for (const [connection, target] of allowedConnections) if (!allowed().has(target)) connection.destroy();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

interface ProxyGuard {
  allowed: HostAllowlist;
  resolve: ResolveHost;
  /** Connections to hosts that are allowed by name. */
  free: Map<ClientRequest | Socket, URL>;
}

/** The permission covers only the checked port of the host. */
const createLookup = (target: URL, { allowed, resolve }: Pick<ProxyGuard, 'allowed' | 'resolve'>): LookupFunction =>
  pinnedLookup(resolve, 'public', () => allowed.has(target));

function trackConnection(connection: ClientRequest | Socket, target: URL, { allowed, free: allowedConnections }: ProxyGuard): void {
  if (!allowed.has(target)) return;
  allowedConnections.set(connection, target);
  connection.once('close', () => allowedConnections.delete(connection));
}

/** Opens a tunnel for TLS and WebSockets. */
function tunnel(request: IncomingMessage, client: Socket, head: Buffer, guard: ProxyGuard): void {
  const { allowed, resolve } = guard;
  client.on('error', () => client.destroy());
  const target = URL.parse(`https://${request.url ?? ''}`);
  const refusal = target ? getRefusal(target, allowed) : 'Not a valid address';
  if (!target || refusal !== undefined) return refuseTunnel(client, refusal ?? '');
  const upstream = connect({
    host: toHost(target),
    port: Number(target.port || 443),
    lookup: createLookup(target, { allowed, resolve }),
    timeout: CONNECT_MS,
  });
  trackConnection(upstream, target, guard);
  upstream.once('connect', () => {
    upstream.setTimeout(0);
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    if (head.length > 0) upstream.write(head);
    upstream.pipe(client).pipe(upstream);
  });
  upstream.on('timeout', () => upstream.destroy(new Error('no response in time')));
  upstream.on('error', (error) => (upstream.connecting || !client.writable ? refuseTunnel(client, error.message) : client.destroy()));
  upstream.on('close', () => client.destroy());
  client.on('close', () => upstream.destroy());
}

function forward(request: IncomingMessage, response: ServerResponse, guard: ProxyGuard): void {
  const { allowed, resolve } = guard;
  const refused = (reason: string, status = 403): void => {
    if (response.headersSent) return void response.destroy();
    response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', [REFUSED_HEADER]: '1' }).end(reason);
  };
  const target = URL.parse(request.url ?? '');
  if (target?.protocol !== 'http:') return refused('Not a web address');
  const refusal = getRefusal(target, allowed);
  if (refusal !== undefined) return refused(refusal);
  const headers = dropHopByHop(request.headers);
  const upstream = httpRequest(
    {
      host: toHost(target),
      port: Number(target.port || 80),
      method: request.method,
      path: target.pathname + target.search,
      headers,
      lookup: createLookup(target, { allowed, resolve }),
      // Do not reuse connections, which may have been checked against another list.
      agent: false,
      timeout: CONNECT_MS,
    },
    (upstreamResponse) => {
      const { [REFUSED_HEADER]: _, ...passed } = dropHopByHop(upstreamResponse.headers);
      upstreamResponse.on('error', () => response.destroy());
      const { statusCode = 0 } = upstreamResponse;
      // Also for invalid codes such as 000, since writing them would throw and end the process.
      if (statusCode < 200) {
        refused(`Invalid response status ${statusCode}`, 502);
        return void upstream.destroy();
      }
      response.writeHead(statusCode, passed);
      upstreamResponse.pipe(response);
    },
  );
  trackConnection(upstream, target, guard);
  upstream.on('timeout', () => upstream.destroy(new Error('no response in time')));
  upstream.on('error', (error) => refused(error.message, 502));
  response.on('close', () => upstream.destroy());
  request.pipe(upstream);
}

function dropHopByHop(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP_HEADERS.has(name)));
}

/** Returns why the browser must not go there, as far as known without resolving the name. */
function getRefusal(target: URL, allowed: HostAllowlist): string | undefined {
  try {
    parseWebUrl(target, allowed);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const toHost = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

function refuseTunnel(client: Socket, reason: string): void {
  client.end(
    `HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${reason.replaceAll(/[\r\n]/g, ' ')}`,
  );
}
