import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A fault of a platform for one request. */
export type Fault =
  | { status: number; body: string; headers?: Record<string, string> }
  /** Closes the connection before or after (`done`) carrying out the request. */
  | { cut: 'before' | 'done' }
  /** A body without end. */
  | { endless: true };

export interface Asked {
  method: string;
  /** Without the query. */
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

export interface Answer {
  status?: number;
  json: unknown;
  headers?: Record<string, string>;
}

/** An HTTP server that responds like a platform, with faults on demand. `fault`: the fault of a request; undefined for none. */
export async function platformServer(answer: (asked: Asked, gone: AbortSignal) => Promise<Answer> | Answer) {
  const asked: Asked[] = [];
  const here: { fault: (asked: Asked) => Fault | undefined } = { fault: () => undefined };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://platform');
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const each: Asked = {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body: await buffer(request),
    };
    asked.push(each);
    const fault = here.fault(each);
    if (fault && 'status' in fault) return void response.writeHead(fault.status, fault.headers).end(fault.body);
    if (fault && 'endless' in fault) {
      response.writeHead(200, { 'content-type': 'application/json' });
      const more = (): void => {
        while (!response.destroyed && response.write(' '.repeat(65_536)));
        if (!response.destroyed) response.once('drain', more);
      };
      return more();
    }
    if (fault?.cut === 'before') return void request.socket.destroy();
    const { status = 200, json, headers } = await answer(each, gone.signal);
    if (fault) return void request.socket.destroy();
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(json));
  };
  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(here, {
    asked,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}

/** Applies the fault to the first `count` matching requests. */
export function first(count: number, fault: Fault, fits: (asked: Asked) => boolean): (asked: Asked) => Fault | undefined {
  let left = count;
  return (asked) => (left > 0 && fits(asked) ? (left--, fault) : undefined);
}
