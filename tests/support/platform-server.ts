import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A fault of a platform for one request. */
type PlatformFault =
  | { status: number; body: string; headers?: Record<string, string> }
  /** Closes the connection before or after (`done`) carrying out the request. */
  | { cut: 'before' | 'done' }
  /** A body without end. */
  | { endless: true };

export interface PlatformRequest {
  method: string;
  /** Without the query. */
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

interface PlatformResponse {
  status?: number;
  json?: unknown;
  /** A file, instead of JSON. */
  bytes?: Buffer;
  /** Writes the body itself, such as events without end. */
  stream?: (response: ServerResponse) => void;
  headers?: Record<string, string>;
}

/** An HTTP server that responds like a platform, with faults on demand. `fault`: the fault of a request; undefined for none. */
export async function startPlatformServer(
  answer: (request: PlatformRequest, signal: AbortSignal) => Promise<PlatformResponse> | PlatformResponse,
) {
  const requests: PlatformRequest[] = [];
  const state: { fault: (request: PlatformRequest) => PlatformFault | undefined } = { fault: () => undefined };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://platform');
    const closed = new AbortController();
    response.on('close', () => closed.abort());
    const each: PlatformRequest = {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body: await buffer(request),
    };
    requests.push(each);
    const fault = state.fault(each);
    if (fault && 'status' in fault) return void response.writeHead(fault.status, fault.headers).end(fault.body);
    if (fault && 'endless' in fault) {
      response.writeHead(200, { 'content-type': 'application/json' });
      const writeMore = (): void => {
        while (!response.destroyed && response.write(' '.repeat(65_536)));
        if (!response.destroyed) response.once('drain', writeMore);
      };
      return writeMore();
    }
    if (fault?.cut === 'before') return void request.socket.destroy();
    const { status = 200, json, bytes, stream, headers } = await answer(each, closed.signal);
    if (fault) return void request.socket.destroy();
    if (stream) {
      response.writeHead(status, headers);
      return stream(response);
    }
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(bytes ?? JSON.stringify(json));
  };
  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(state, {
    asked: requests,
    http: server,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}

/** Applies the fault to the first `count` matching requests. */
export function failFirst(
  count: number,
  fault: PlatformFault,
  matches: (request: PlatformRequest) => boolean,
): (request: PlatformRequest) => PlatformFault | undefined {
  let remaining = count;
  return (request) => (remaining > 0 && matches(request) ? (remaining--, fault) : undefined);
}
