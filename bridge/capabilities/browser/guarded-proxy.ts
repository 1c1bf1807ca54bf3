import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { connect, type LookupFunction, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer, request as httpRequest } from '../../node-http.ts';
import { HOP_BY_HOP } from '../hop-by-hop.ts';
import { pinnedLookup, resolveBySystem, type Resolve } from '../pinned-lookup.ts';
import { Allowed, judgedUrl } from '../web-guard.ts';

const CONNECT_MS = 15_000;
/** Header of the proxy's own responses. */
export const REFUSED = 'x-perch-refused';

export interface ProxyOptions {
  /** Returns the private hosts that may currently be requested. */
  allowed(): Allowed;
  resolve?: Resolve;
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
export async function startGuardedProxy({ allowed, resolve = resolveBySystem }: ProxyOptions): Promise<GuardedProxy> {
  const sockets = new Set<Duplex>();
  const free: Guard['free'] = new Map();
  const server = createServer((request, response) => forward(request, response, { allowed: allowed(), resolve, free }));
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('connect', (request: IncomingMessage, client: Socket, head: Buffer) =>
    tunnel(request, client, head, { allowed: allowed(), resolve, free }),
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
      for (const [connection, place] of free) if (!allowed().has(place)) connection.destroy();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

interface Guard {
  allowed: Allowed;
  resolve: Resolve;
  /** Connections to hosts that are allowed by name. */
  free: Map<ClientRequest | Socket, URL>;
}

/** The permission covers only the checked port of the host. */
const lookupFor = (place: URL, { allowed, resolve }: Pick<Guard, 'allowed' | 'resolve'>): LookupFunction =>
  pinnedLookup(resolve, 'public', () => allowed.has(place));

function note(connection: ClientRequest | Socket, place: URL, { allowed, free }: Guard): void {
  if (!allowed.has(place)) return;
  free.set(connection, place);
  connection.once('close', () => free.delete(connection));
}

/** Opens a tunnel for TLS and WebSockets. */
function tunnel(request: IncomingMessage, client: Socket, head: Buffer, guard: Guard): void {
  const { allowed, resolve } = guard;
  client.on('error', () => client.destroy());
  const place = URL.parse(`https://${request.url ?? ''}`);
  const refusal = place ? refusalOf(place, allowed) : 'Not a valid address';
  if (!place || refusal !== undefined) return refuse(client, refusal ?? '');
  const upstream = connect({
    host: hostOf(place),
    port: Number(place.port || 443),
    lookup: lookupFor(place, { allowed, resolve }),
    timeout: CONNECT_MS,
  });
  note(upstream, place, guard);
  upstream.once('connect', () => {
    upstream.setTimeout(0);
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    if (head.length > 0) upstream.write(head);
    upstream.pipe(client).pipe(upstream);
  });
  upstream.on('timeout', () => upstream.destroy(new Error('no response in time')));
  upstream.on('error', (error) => (upstream.connecting || !client.writable ? refuse(client, error.message) : client.destroy()));
  upstream.on('close', () => client.destroy());
  client.on('close', () => upstream.destroy());
}

function forward(request: IncomingMessage, response: ServerResponse, guard: Guard): void {
  const { allowed, resolve } = guard;
  const refused = (why: string, status = 403): void => {
    if (response.headersSent) return void response.destroy();
    response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', [REFUSED]: '1' }).end(why);
  };
  const place = URL.parse(request.url ?? '');
  if (place?.protocol !== 'http:') return refused('Not a web address');
  const refusal = refusalOf(place, allowed);
  if (refusal !== undefined) return refused(refusal);
  const headers = dropHopByHop(request.headers);
  const upstream = httpRequest(
    {
      host: hostOf(place),
      port: Number(place.port || 80),
      method: request.method,
      path: place.pathname + place.search,
      headers,
      lookup: lookupFor(place, { allowed, resolve }),
      // Do not reuse connections, which may have been checked against another list.
      agent: false,
      timeout: CONNECT_MS,
    },
    (answer) => {
      const { [REFUSED]: _, ...passed } = dropHopByHop(answer.headers);
      answer.on('error', () => response.destroy());
      const { statusCode = 0 } = answer;
      // Also for invalid codes such as 000, since writing them would throw and end the process.
      if (statusCode < 200) {
        refused(`Invalid response status ${statusCode}`, 502);
        return void upstream.destroy();
      }
      response.writeHead(statusCode, passed);
      answer.pipe(response);
    },
  );
  note(upstream, place, guard);
  upstream.on('timeout', () => upstream.destroy(new Error('no response in time')));
  upstream.on('error', (error) => refused(error.message, 502));
  response.on('close', () => upstream.destroy());
  request.pipe(upstream);
}

function dropHopByHop(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name)));
}

/** Returns why the browser must not go there, as far as known without resolving the name. */
function refusalOf(place: URL, allowed: Allowed): string | undefined {
  try {
    judgedUrl(place, allowed);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

function refuse(client: Socket, why: string): void {
  client.end(
    `HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${why.replaceAll(/[\r\n]/g, ' ')}`,
  );
}
