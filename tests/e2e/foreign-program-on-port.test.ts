import { createServer } from 'node:http';
import { once } from 'node:events';
import { expect } from 'vitest';
import { WebSocketServer } from 'ws';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { waitForConnection } from './connection-status.ts';
import { launchBrowser } from './test-browser.ts';
import { startPerch } from './perch-process.ts';

verifies('uplink/mutual-proof', 'another program on the port learns nothing from the app, which goes on without it', async () => {
  await using perch = await startPerch({ host: 'headless' });
  await using browser = await launchBrowser();
  const page = await browser.page(perch.linkUrl);
  await waitForConnection(page, 'Connected');
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
  await page.getByRole('textbox', { name: 'Message' }).fill('a private draft');
  const port = Number(new URL(perch.url).port);
  await perch.kill('SIGKILL');

  const receivedCalls: { method: string; params: Record<string, unknown> }[] = [];
  const server = createServer((request, response) => {
    const health = { status: 'ok', version: '9', build: 'x', mode: 'auto', host: 'headless' };
    response.setHeader('content-type', 'application/json');
    response.end(request.url === '/health' ? JSON.stringify(health) : '{}');
  });
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    socket.send(
      JSON.stringify({ type: 'event', event: 'connect.challenge', seq: 1, payload: { nonce: 'a nonce of the squatter', ts: 1 } }),
    );
    socket.on('message', (data) => {
      const frame = JSON.parse((data as Buffer).toString()) as { id: string; method: string; params: Record<string, unknown> };
      receivedCalls.push(frame);
      const payload = { protocol: 3, server: { name: 'perch', version: '9', connId: 'x' }, auth: { proof: 'bm90IGEgcHJvb2Y' } };
      socket.send(JSON.stringify({ type: 'res', id: frame.id, ok: true, payload }));
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  try {
    await waitFor(() => receivedCalls.length > 0, 'the app to try', 20_000);
    await waitForConnection(page, /^This browser/);
    // Nothing but the handshake, whose proof serves for this nonce alone.
    expect(new Set(receivedCalls.map(({ method }) => method))).toEqual(new Set(['connect']));
    for (const { params } of receivedCalls)
      expect(Object.keys(params['auth'] as object).sort()).toEqual(['credentialId', 'nonce', 'proof']);
    expect(JSON.stringify(receivedCalls)).not.toContain('private draft');
  } finally {
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    server.close();
  }
});
