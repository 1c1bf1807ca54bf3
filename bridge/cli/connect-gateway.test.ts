import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { verifies } from '../../tests/requirements.ts';
import { createTempFolder } from '../backup/fixture.ts';
import { startTestBridge } from '../server/tests/test-bridge.ts';
import { connectGateway } from './connect-gateway.ts';
import { getCredential } from './credential.ts';
import { openLink } from './open-link.ts';
import { parseTarget } from './gateway-target.ts';

const STORED_TOKEN = 'a-token-that-is-kept-on-this-disk-0123456789';

/** A server that records requests and may answer. */
async function startEavesdropper(answer?: (request: IncomingMessage) => { status: number; location: string }): Promise<Listener> {
  const received: string[] = [];
  const server: Server = createServer((request, response) => {
    received.push(JSON.stringify([request.url, request.headers]));
    const { status, location } = answer?.(request) ?? { status: 404, location: '' };
    response.writeHead(status, { location }).end();
  });
  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    received.push(JSON.stringify([request.url, request.headers]));
    const { status, location } = answer?.(request) ?? { status: 0, location: '' };
    if (status > 0) return socket.end(`HTTP/1.1 ${status} Moved\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`);
    sockets.handleUpgrade(request, socket, head, (client) => {
      client.on('message', (data: Buffer) => received.push(data.toString()));
      client.send(JSON.stringify({ type: 'event', event: 'connect.challenge', seq: 1, payload: { nonce: 'n', ts: 1 } }));
    });
  });
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  const address = server.address();
  return {
    heard: received,
    port: typeof address === 'object' && address ? address.port : 0,
    async [Symbol.asyncDispose]() {
      for (const client of sockets.clients) client.terminate();
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

interface Listener extends AsyncDisposable {
  port: number;
  heard: string[];
}

/** A non-loopback address of this machine. */
const findOwnAddress = (): string | undefined =>
  Object.values(networkInterfaces())
    .flat()
    .find((found) => found?.family === 'IPv4' && !found.internal)?.address;

function storeToken(home: string): void {
  vi.stubEnv('PERCH_HOME', home);
  vi.stubEnv('PERCH_TOKEN', STORED_TOKEN);
  vi.stubEnv('PERCH_PASSWORD', STORED_TOKEN);
}

verifies(
  'cli/url-credential',
  'a different host must be given explicitly: stored credentials are not sent, and the host is not contacted',
  async () => {
    await using other = await startEavesdropper();
    using home = createTempFolder();
    storeToken(home.path);
    try {
      const url = `ws://${findOwnAddress() ?? '0.0.0.0'}:${other.port}`;
      for (const attempt of [connectGateway({ url, port: 1, name: 'test' }), openLink({ url, port: 1 })])
        await expect(attempt).rejects.toMatchObject({ exitCode: 2, message: expect.stringMatching(/on another computer.*--token/) });
      expect(other.heard).toEqual([]);
      // Positive control: credentials from the command line are sent there, and stored ones to a loopback address.
      await expect(connectGateway({ url, port: 1, name: 'test', token: 'given-on-the-line', timeoutMs: 300 })).rejects.toMatchObject({
        exitCode: 1,
      });
      expect(other.heard.join()).toContain('given-on-the-line');
      expect(other.heard.join()).not.toContain(STORED_TOKEN);
      await expect(connectGateway({ url: `ws://127.0.0.1:${other.port}`, port: 1, name: 'test', timeoutMs: 300 })).rejects.toMatchObject({
        exitCode: 1,
      });
      expect(other.heard.join()).toContain(STORED_TOKEN);
    } finally {
      vi.unstubAllEnvs();
    }
  },
);

verifies('cli/url-credential', 'a redirect is refused without contacting its target', async () => {
  await using other = await startEavesdropper();
  using home = createTempFolder();
  storeToken(home.path);
  try {
    for (const status of [301, 302, 307, 308]) {
      await using moved = await startEavesdropper(({ url }) => ({ status, location: `http://127.0.0.1:${other.port}${url ?? ''}` }));
      const url = `http://127.0.0.1:${moved.port}`;
      await expect(connectGateway({ url, port: 1, name: 'test' })).rejects.toMatchObject({
        exitCode: 1,
        message: expect.stringContaining(`${status}`),
      });
      await expect(openLink({ url, port: 1 })).rejects.toMatchObject({ exitCode: 1, message: expect.stringContaining('redirect') });
    }
    expect(other.heard).toEqual([]);
  } finally {
    vi.unstubAllEnvs();
  }
});

verifies('vaults/commands', '`perch open` says that a gateway does not serve a vault, which a new one needs a restart for', async () => {
  await using bridge = await startTestBridge();
  await expect(openLink({ url: bridge.url, port: 1, vault: 'work', token: bridge.token })).rejects.toMatchObject({
    exitCode: 1,
    message: expect.stringMatching(/doesn’t serve the vault work\. If you have just created it, restart the gateway\.$/),
  });
});

verifies('cli/url-credential', 'the line comes before the environment, and that before the files', async () => {
  await using bridge = await startTestBridge();
  const target = parseTarget(bridge.url);
  vi.stubEnv('PERCH_HOME', bridge.home.dir);
  try {
    const of = (options: object, env: NodeJS.ProcessEnv = {}): Promise<unknown> => getCredential(target, options, env);
    expect(await of({})).toEqual({ token: bridge.token });
    expect(await of({}, { PERCH_TOKEN: STORED_TOKEN, PERCH_PASSWORD: 'p' })).toEqual({ token: STORED_TOKEN });
    expect(await of({}, { PERCH_PASSWORD: 'p' })).toEqual({ password: 'p' });
    expect(await of({ password: 'q' }, { PERCH_TOKEN: STORED_TOKEN, PERCH_PASSWORD: 'p' })).toEqual({ password: 'q' });
    expect(await of({ token: 't' }, { PERCH_TOKEN: STORED_TOKEN })).toEqual({ token: 't' });
    expect(await of({ authToken: 't' }, { PERCH_TOKEN: STORED_TOKEN })).toEqual({ token: 't' });
  } finally {
    vi.unstubAllEnvs();
  }
});

verifies(['cli/timeouts', 'cli/errors'], 'an unresponsive gateway times out with a reason', async () => {
  const silent = createTcpServer();
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  const address = silent.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  try {
    for (const [options, says] of [
      [{ port }, /^The gateway on port \d+ didn’t respond in time$/],
      [{ port: 1, url: `ws://127.0.0.1:${port}` }, /^The gateway at ws:\/\/127\.0\.0\.1:\d+\/ws didn’t respond in time$/],
      [{ port: 1, url: 'ws://localhost:1' }, /ECONNREFUSED/],
    ] as const)
      await expect(connectGateway({ ...options, token: 'given', name: 'test', timeoutMs: 200 })).rejects.toMatchObject({
        exitCode: 1,
        message: expect.stringMatching(says),
      });
  } finally {
    silent.close();
  }
});
