import { createServer } from 'node:http';
import { existsSync, readFileSync, statSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';

const TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
};

export interface StaticSite extends AsyncDisposable {
  /** With the base path. */
  readonly url: string;
  /** Switches of a browser that sends all requests, to any host, here. */
  readonly browserArgs: string[];
  /** Paths requested from the site itself. */
  readonly requests: string[];
  /** Requests to other hosts. */
  readonly foreignRequests: string[];
  /** While it is set nothing is answered, of this site either. */
  isOffline: boolean;
}

/** Chromium's own requests, whatever page is open: requests of pages are also recorded by the browser's test harness. */
const CHROMIUM_REQUESTS =
  /^(update|content-autofill|optimizationguide-pa|safebrowsing)\.googleapis\.com(:\d+)?$|^(accounts|clients\d|www)\.google\.com(:\d+)?$|\.gvt1\.com(:\d+)?$/;

/** A plain file server under a base path, without rewrite rules; also the proxy of its browser, so that every request is recorded. */
export async function startStaticSite(folder: string, base: string): Promise<StaticSite> {
  const requests: string[] = [];
  const strayed: string[] = [];
  const server = createServer((request, response) => {
    if (site.isOffline) return void request.socket.destroy();
    const url = new URL(request.url ?? '/', `http://${request.headers.host ?? ''}`);
    if (url.host !== host) {
      if (!CHROMIUM_REQUESTS.test(url.host)) strayed.push(url.href);
      return void response.writeHead(502).end();
    }
    requests.push(url.pathname);
    const path = join(folder, url.pathname.slice(base.length), url.pathname.endsWith('/') ? 'index.html' : '');
    const found = url.pathname.startsWith(base) && existsSync(path) && statSync(path).isFile();
    response.writeHead(found ? 200 : 404, { 'content-type': found ? (TYPES[extname(path)] ?? 'application/octet-stream') : 'text/plain' });
    response.end(found ? readFileSync(path) : 'Not found');
  });
  // Encrypted ones would come so, and so would sockets.
  server.on('connect', ({ url = '' }, socket) => {
    if (!CHROMIUM_REQUESTS.test(url)) strayed.push(url);
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const site: StaticSite = {
    url: `http://${host}${base}`,
    browserArgs: [`--proxy-server=http://${host}`, '--proxy-bypass-list=<-loopback>'],
    requests,
    foreignRequests: strayed,
    isOffline: false,
    [Symbol.asyncDispose]: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
  return site;
}
