import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:http';

/** A place elsewhere, on two ports: connections that bring no request, and datagrams, are heard too. */
export interface RecordingServer extends AsyncDisposable {
  /** Of a host that a browser started with `ELSEWHERE_ARGS` finds here. */
  readonly url: string;
  readonly stun: string;
  /** Requests as `GET /path`, `a connection`, `a datagram`. */
  readonly requests: string[];
  /** Body of `/page`; the request for the page itself is not recorded. */
  page: string;
}

export const ELSEWHERE_ARGS = ['--host-resolver-rules=MAP elsewhere.test 127.0.0.1'];

export async function startRecordingServer(): Promise<RecordingServer> {
  const heard: string[] = [];
  const server = createServer((request, response) => {
    const isPageRequest = request.url === '/page';
    if (!isPageRequest) heard.push(`${request.method} ${request.url}`);
    response.writeHead(200, { 'access-control-allow-origin': '*', 'content-type': isPageRequest ? 'text/html' : 'text/plain' });
    response.end(isPageRequest ? place.page : 'heard');
  }).listen(0, '127.0.0.1');
  server.on('connection', () => heard.push('a connection'));
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  socket.on('message', () => heard.push('a datagram'));
  await Promise.all([once(server, 'listening'), once(socket, 'listening')]);
  const address = server.address();
  const place: RecordingServer = {
    page: '',
    url: `http://elsewhere.test:${typeof address === 'object' ? address?.port : 0}`,
    stun: `stun:127.0.0.1:${socket.address().port}`,
    requests: heard,
    async [Symbol.asyncDispose]() {
      socket.close();
      server.closeAllConnections();
      server.close();
      await Promise.resolve();
    },
  };
  return place;
}
