import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket, WebSocketServer } from 'ws';
import { waitFor } from './test-gateway.ts';

/** A grid of browsers: a DevTools URL that starts a browser for each connection, and ends it with the connection. */
interface CdpGrid extends AsyncDisposable {
  /** `ws://127.0.0.1:port/?token=…` */
  url: string;
  /** Browsers that run. */
  readonly runningCount: number;
  /** Connections that were refused. */
  readonly refusedCount: number;
  /** Kills all browsers, like the loss of a machine of the grid. */
  dropConnections(): void;
}

interface GridOptions {
  executable: string;
  token: string;
  /** Maximum number of browsers; more are refused with 429. */
  maxSessions: number;
}

export async function startCdpGrid({ executable, token, maxSessions }: GridOptions): Promise<CdpGrid> {
  const children = new Set<ChildProcess>();
  let refused = 0;
  let sessionCount = 0;
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  const server = createServer((_, response) => response.writeHead(404).end());
  server.on('upgrade', (request, socket, head) => {
    const isAuthorized = new URL(request.url ?? '/', 'http://grid').searchParams.get('token') === token;
    if (!isAuthorized || sessionCount >= maxSessions) {
      refused++;
      socket.end(`HTTP/1.1 ${isAuthorized ? '429 Too Many Requests' : '401 Unauthorized'}\r\nConnection: close\r\n\r\n`);
      return;
    }
    sessionCount++;
    sockets.handleUpgrade(request, socket, head, (client) => void serve(client).finally(() => sessionCount--));
  });

  /** Resolves when the browser is gone. */
  async function serve(client: WebSocket): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), 'perch-grid-'));
    const args = ['--headless', '--no-sandbox', '--disable-gpu', '--remote-debugging-port=0', `--user-data-dir=${folder}`, 'about:blank'];
    const child = spawn(executable, args, { stdio: 'ignore' });
    const exited = once(child, 'exit');
    children.add(child);
    // Messages that arrive before the browser is ready.
    const early: { data: WebSocket.RawData; binary: boolean }[] = [];
    const hold = (data: WebSocket.RawData, binary: boolean): void => void early.push({ data, binary });
    client.on('message', hold).on('error', () => {});
    const end = (): void => void child.kill('SIGKILL');
    client.once('close', end);
    void exited.then(() => client.close(1011, 'the browser has ended'));
    try {
      const [port, path] = await readDevToolsPort(folder);
      const browserSocket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { perMessageDeflate: false, maxPayload: 256 * 1024 * 1024 });
      browserSocket.on('error', end).once('close', end);
      await once(browserSocket, 'open');
      client.off('message', hold);
      for (const { data, binary } of early) browserSocket.send(data, { binary });
      client.on('message', (data, binary) => browserSocket.send(data, { binary }));
      browserSocket.on('message', (data, binary) => client.send(data, { binary }));
    } catch {
      end();
    }
    await exited;
    children.delete(child);
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const killAll = (): void => children.forEach((child) => child.kill('SIGKILL'));
  return {
    url: `ws://127.0.0.1:${port}/?token=${token}`,
    get runningCount() {
      return children.size;
    },
    get refusedCount() {
      return refused;
    },
    dropConnections: killAll,
    async [Symbol.asyncDispose]() {
      server.close();
      killAll();
      await waitFor(() => children.size === 0, 'the grid’s browsers, ended');
    },
  };
}

/** Reads the port and path that the browser writes to its folder. */
async function readDevToolsPort(folder: string): Promise<[port: string, path: string]> {
  let output: string[] = [];
  await waitFor(
    () => {
      try {
        output = readFileSync(join(folder, 'DevToolsActivePort'), 'utf8').split('\n');
      } catch {
        return false;
      }
      return output.length >= 2;
    },
    'a browser of the grid',
    30_000,
  );
  const [port = '', path = ''] = output;
  return [port, path];
}
