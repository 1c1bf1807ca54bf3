import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Faults of a hub. */
export interface HubFaults {
  /** Closes the connection after this many bytes of each file response. */
  cutAfter?: number;
  /** Lists checksums of other files. */
  wrongHash?: boolean;
  /** Sends a file without end. */
  endless?: boolean;
  /** Ignores ranges and sends files from the beginning. */
  ignoresRange?: boolean;
  /** Accepts requests and never answers. */
  silent?: boolean;
  /** Answers everything so. */
  status?: number;
  /** Lists this instead of files. */
  list?: string;
}

/** A local model hub that responds like the two real ones; like theirs, its files are on a separate server. */
export async function startHubServer(repos: Record<string, Record<string, Uint8Array>>, faults: HubFaults = {}) {
  const requests: { path: string; range: string | undefined; token: string | undefined; store: boolean }[] = [];
  const note = ({ url = '', headers }: IncomingMessage, store: boolean): URL => {
    requests.push({ path: url, range: headers.range, token: headers.authorization, store });
    return new URL(url, 'http://hub');
  };
  const store = createServer((request, response) => {
    const bytes =
      repos[decodeURIComponent(note(request, true).searchParams.get('repo') ?? '')]?.[
        new URL(request.url ?? '', 'http://h').searchParams.get('file') ?? ''
      ];
    if (bytes) send(request, response, bytes, faults);
    else response.writeHead(404).end();
  });
  const hub = createServer((request, response) => {
    const url = note(request, false);
    if (faults.silent) return;
    if (faults.status !== undefined) return void response.writeHead(faults.status).end();
    const listed = /^\/api\/(?:v1\/)?models\/([^/]+\/[^/]+)\//.exec(url.pathname)?.[1];
    const files = repos[listed ?? ''];
    if (listed !== undefined) {
      if (!files) return void response.writeHead(404).end('{}');
      return void response.end(
        faults.list ?? JSON.stringify(url.pathname.includes('/v1/') ? modelscope(files, faults) : huggingface(files, faults)),
      );
    }
    const [, repo = '', file = ''] = /^\/(?:models\/)?([^/]+\/[^/]+)\/resolve\/\w+\/(.+)$/.exec(url.pathname) ?? [];
    response.writeHead(302, { location: `${toUrl(store)}/?repo=${encodeURIComponent(repo)}&file=${file}` }).end();
  });
  for (const server of [store, hub]) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  return {
    asked: requests,
    faults,
    env: { HF_ENDPOINT: toUrl(hub), MODELSCOPE_DOMAIN: toUrl(hub) },
    async [Symbol.asyncDispose]() {
      for (const server of [store, hub]) {
        server.closeAllConnections();
        server.close();
        await once(server, 'close');
      }
    },
  };
}

const toUrl = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const computeHash = (bytes: Uint8Array, { wrongHash }: HubFaults): string =>
  createHash('sha256')
    .update(wrongHash ? 'another' : bytes)
    .digest('hex');

const huggingface = (files: Record<string, Uint8Array>, faults: HubFaults): object[] => [
  { type: 'directory', path: 'more', size: 0 },
  ...Object.entries(files).map(([path, bytes]) => ({
    type: 'file',
    path,
    size: bytes.length,
    lfs: { oid: computeHash(bytes, faults), size: bytes.length, pointerSize: 134 },
  })),
];

const modelscope = (files: Record<string, Uint8Array>, faults: HubFaults): object => ({
  Code: 200,
  Data: {
    Files: Object.entries(files).map(([Path, bytes]) => ({ Type: 'blob', Path, Size: bytes.length, Sha256: computeHash(bytes, faults) })),
  },
});

function send({ headers }: IncomingMessage, response: ServerResponse, bytes: Uint8Array, faults: HubFaults): void {
  const { cutAfter, endless, ignoresRange } = faults;
  const from = ignoresRange ? 0 : Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
  if (endless) {
    const writeMore = (): void => {
      while (!response.destroyed && response.write(bytes));
      if (!response.destroyed) response.once('drain', writeMore);
    };
    response.writeHead(200);
    return writeMore();
  }
  const rest = bytes.subarray(from);
  const range = from > 0 ? { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` } : {};
  response.writeHead(from > 0 ? 206 : 200, { 'content-length': rest.length, ...range });
  if (cutAfter === undefined || rest.length <= cutAfter) return void response.end(rest);
  response.write(rest.subarray(0, cutAfter), () => setImmediate(() => response.destroy()));
}
