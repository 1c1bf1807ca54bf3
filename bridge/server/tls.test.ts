import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request as plainRequest } from 'node:http';
import { request, type RequestOptions } from 'node:https';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { linkResult } from '#shared/link/link-credentials.ts';
import { verifies } from '../../tests/requirements.ts';
import { createSelfSigned, type CertificateFiles } from '../../tests/support/self-signed-certificate.ts';
import { readCertificate } from './certificate.ts';
import { startCertificateRenewal } from './certificate-renewal.ts';
import { startTestBridge, type TestBridge } from './tests/test-bridge.ts';

const own = Object.values(networkInterfaces())
  .flat()
  .find((entry) => entry?.family === 'IPv4' && !entry.internal)?.address;
const page = { accept: 'text/html' };

let dir: string;
let made: CertificateFiles;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'perch-tls-'));
  made = await createSelfSigned(dir, ['DNS:perch.test', 'DNS:*.wild.test', `IP:${own ?? '192.0.2.1'}`]);
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const exposed = (): Promise<TestBridge> => startTestBridge({ bind: '0.0.0.0', expose: true, tls: made });

interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  body: string;
}

/** Sends a request from another machine's address over TLS. 101 if an upgrade is accepted. */
function sendRequest(gateway: TestBridge, path: string, { body, ...options }: RequestOptions & { body?: string } = {}): Promise<Answer> {
  const port = Number(new URL(gateway.url).port);
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: own, port, path, ca: made.ca, servername: 'perch.test', agent: false, ...options });
    outgoing.on('upgrade', ({ headers }, socket) => {
      socket.destroy();
      resolve({ status: 101, headers, body: '' });
    });
    outgoing.on('response', (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: body }), reject);
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

const upgrade = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
};

describe.skipIf(own === undefined)('over TLS', () => {
  verifies(
    'tls/app',
    'other machines get the app, a link and the lease under the certificate’s name and the address, this one as before',
    async () => {
      await using gateway = await exposed();
      const port = new URL(gateway.url).port;
      expect(gateway.url).toBe(`http://127.0.0.1:${port}`);
      expect(gateway.bridge.elsewhere).toBe(`https://perch.test:${port}`);
      for (const host of [`perch.test:${port}`, `${own}:${port}`]) {
        const origin = `https://${host}`;
        const shown = await sendRequest(gateway, '/', { headers: { host, ...page } });
        expect([shown.status, shown.headers['content-security-policy']]).toEqual([200, expect.stringContaining("frame-ancestors 'none'")]);
        expect((await sendRequest(gateway, '/icon.svg', { headers: { host } })).status).toBe(200);
        expect((await sendRequest(gateway, '/health', { headers: { host } })).body).not.toContain('reach');
        const linkResponse = await sendRequest(gateway, '/link', {
          method: 'POST',
          headers: { host, origin, 'content-type': 'application/json' },
          body: JSON.stringify({ code: gateway.bridge.issueCode(10_000) }),
        });
        expect(linkResponse.status).toBe(200);
        expect(linkResult.parse(JSON.parse(linkResponse.body)).host.id).toMatch(/^host-/);
        for (const path of ['/ws', '/uplink'])
          expect((await sendRequest(gateway, path, { headers: { host, origin, ...upgrade } })).status).toBe(101);
      }
      await gateway.attach();
      const authorization = `Bearer ${gateway.token}`;
      expect((await sendRequest(gateway, '/v1/models', { headers: { host: `perch.test:${port}`, authorization } })).status).toBe(200);
      expect((await sendRequest(gateway, '/v1/models', { headers: { host: `perch.test:${port}` } })).status).toBe(401);
      // On this machine: plain HTTP at the usual origin.
      expect((await gateway.http('/', { headers: page })).status).toBe(200);
      expect(await (await gateway.http('/health')).json()).toMatchObject({
        reach: [`wss://perch.test:${port}/ws`, `wss://${own}:${port}/ws`],
      });
      const code = await (await gateway.http('/link/code', { method: 'POST' })).json();
      expect(code).toMatchObject({
        url: expect.stringContaining(`${gateway.url}/#link=`) as string,
        elsewhere: expect.stringContaining(`https://perch.test:${port}/#link=`) as string,
      });
    },
  );

  verifies('tls/admission', 'no other name, address, port or origin is let in, on any surface', async () => {
    await using gateway = await exposed();
    await gateway.attach();
    const port = Number(new URL(gateway.url).port);
    const good = `perch.test:${port}`;
    const authorization = `Bearer ${gateway.token}`;
    const statuses = async (host: string, origin?: string): Promise<number[]> => {
      const headers = { host, authorization, ...(origin === undefined ? {} : { origin }) };
      const paths = ['/v1/models', '/ws', '/uplink', '/'] as const;
      return Promise.all(
        paths.map(async (path) => {
          const more = path === '/' ? page : path === '/v1/models' ? {} : upgrade;
          return (await sendRequest(gateway, path, { headers: { ...headers, ...more } })).status;
        }),
      );
    };
    expect(await statuses(good, `https://${good}`)).toEqual([200, 101, 101, 200]);
    // Programs send no origin and are not hosts.
    expect(await statuses(good)).toEqual([200, 101, 403, 200]);
    for (const host of [
      ...['perch.test', `perch.test:${port + 1}`, `perch.test.:${port}`, `a.perch.test:${port}`, `perch.test.evil.example:${port}`],
      ...[`x.wild.test:${port}`, `*.wild.test:${port}`, `evil.example:${port}`, `192.0.2.7:${port}`, own ?? ''],
    ])
      expect(await statuses(host, `https://${host}`), host).toEqual([403, 403, 403, 403]);
    for (const origin of [
      ...[`http://${good}`, 'https://perch.test', `https://perch.test:${port + 1}`, `https://evil.example:${port}`, 'null'],
      ...[`https://${own}:${port}`, `https://PERCH.test:${port}`, `https://${good}.evil.example`, `http://localhost:${port}`],
    ])
      expect((await statuses(good, origin)).slice(0, 3), origin).toEqual([403, 403, 403]);
    // A loopback name from another machine: API only, as without TLS.
    expect(await statuses(`127.0.0.1:${port}`, gateway.url)).toEqual([200, 101, 403, 404]);
    // The certificate's names are valid over TLS only.
    const plain = await fetch(`${gateway.url}/v1/models`, { headers: { authorization } });
    expect(plain.status).toBe(200);
    const named = await new Promise<number>((resolve, reject) =>
      plainRequest({ host: '127.0.0.1', port, path: '/health', headers: { host: good } }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      })
        .on('error', reject)
        .end(),
    );
    expect(named).toBe(403);
  });

  verifies('tls/only', 'plain HTTP from outside gets an explanation and nothing else; open connections end with the gateway', async () => {
    await using gateway = await exposed();
    const port = Number(new URL(gateway.url).port);
    const answer = await fetch(`http://${own}:${port}/health`);
    expect([answer.status, await answer.text()]).toEqual([400, 'This address requires HTTPS. Use https:// instead.']);
    // Also for connections in a TLS handshake.
    const held = connect({ host: own, port, ca: made.ca, servername: 'perch.test' });
    held.resume();
    await new Promise((resolve) => held.once('secureConnect', resolve));
    const closed = new Promise((resolve) => held.once('close', resolve));
    await gateway.bridge.close();
    await closed;
    await expect(fetch(`http://${own}:${port}/health`)).rejects.toThrow();
  });
});

verifies(
  'tls/options',
  'what cannot be a certificate and its key is refused by its file’s name, and TLS for this machine alone too',
  async () => {
    const other = await createSelfSigned(dir, ['DNS:other.test'], { file: 'other' });
    const bad = join(dir, 'bad.pem');
    await writeFile(bad, 'no PEM');
    const start = (tls: { cert: string; key: string }) => startTestBridge({ bind: '0.0.0.0', expose: true, tls });
    await expect(start({ cert: join(dir, 'none.crt'), key: made.key })).rejects.toThrow(/Couldn’t read the certificate .*none\.crt/);
    await expect(start({ cert: bad, key: made.key })).rejects.toThrow(/bad\.pem contains no certificate/);
    await expect(start({ cert: made.cert, key: bad })).rejects.toThrow(/bad\.pem contains no usable key/);
    await expect(start({ cert: made.cert, key: other.key })).rejects.toThrow(/other\.key doesn’t match the certificate/);
    await expect(startTestBridge({ tls: made })).rejects.toThrow('--expose');
    await expect(readCertificate(made)).resolves.toMatchObject({ names: ['perch.test', '*.wild.test'].slice(0, 1) });
  },
);

it('uses a new certificate once it exists, and keeps the old one if it is unreadable', async () => {
  const shown = { cert: join(dir, 'shown.crt'), key: join(dir, 'shown.key') };
  const put = async (from: { cert: string; key: string }): Promise<void> => {
    await copyFile(from.cert, shown.cert);
    await copyFile(from.key, shown.key);
  };
  await put(made);
  const [lines, renewed]: [string[], string[][]] = [[], []];
  const looks = startCertificateRenewal({
    files: shown,
    front: { renew: ({ names }) => void renewed.push([...names]) },
    log: (line) => void lines.push(line),
    checkMs: 5,
  });
  await vi.waitFor(() => expect(lines).toEqual([expect.stringMatching(/^Warning: The certificate expires in 1 day\./)]));
  await writeFile(shown.cert, 'half');
  await vi.waitFor(() => expect(lines.at(-1)).toMatch(/contains no certificate \(PEM\)\. The previous certificate is still in use/));
  await put(await createSelfSigned(dir, ['DNS:next.test'], { file: 'next', days: 90 }));
  await vi.waitFor(() => expect(renewed).toContainEqual(['next.test']));
  expect(lines.at(-1)).toBe('Loaded the new certificate');
  looks.stop();
});
