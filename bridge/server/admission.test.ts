import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { Admission, isLoopback } from './admission.ts';
import { startTestBridge } from './tests/test-bridge.ts';

type Surface = '/v1/models' | '/ws' | '/uplink';
const SURFACES: Surface[] = ['/v1/models', '/ws', '/uplink'];

/** Status of a request with these headers; 101 for an accepted upgrade. The token is valid, so only admission decides. */
function getStatus(port: number, token: string, agent: Agent, path: Surface, host: string, origin: string | undefined): Promise<number> {
  const upgrade =
    path === '/v1/models'
      ? {}
      : { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==' };
  return new Promise((resolve, reject) => {
    const outgoing = request({
      port,
      host: '127.0.0.1',
      path,
      ...(path === '/v1/models' ? { agent } : { agent: false }),
      headers: { host, authorization: `Bearer ${token}`, ...(origin === undefined ? {} : { origin }), ...upgrade },
    });
    outgoing.on('upgrade', (_response, socket) => {
      socket.destroy();
      resolve(101);
    });
    outgoing.on('response', (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

const toHosts = (port: number): { allowed: string[]; denied: string[] } => ({
  allowed: [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`, `named.example:${port}`],
  denied: [
    '127.0.0.1',
    'localhost',
    '127.0.0.1:80',
    `127.0.0.1:${port + 1}`,
    `127.0.0.1:${port}0`,
    `127.0.0.2:${port}`,
    `0.0.0.0:${port}`,
    `127.1:${port}`,
    `2130706433:${port}`,
    `0x7f000001:${port}`,
    `localhost.:${port}`,
    `localhost.evil.example:${port}`,
    `evil.example:${port}`,
    `127.0.0.1.evil.example:${port}`,
    `evil.example`,
    `[::]:${port}`,
    `[::ffff:127.0.0.1]:${port}`,
    `::1:${port}`,
    `127.0.0.1:${port}@evil.example`,
    `evil.example:${port},127.0.0.1:${port}`,
    `xnamed.example:${port}`,
    `named.example.evil:${port}`,
    `192.168.0.2:${port}`,
    `169.254.169.254:${port}`,
    `perch.local:${port}`,
  ],
});

const toOrigins = (port: number): { allowed: string[]; denied: string[] } => ({
  allowed: [`http://127.0.0.1:${port}`, 'https://friend.example'],
  denied: [
    'null',
    '',
    '*',
    'file://',
    'about:blank',
    `http://localhost:${port}`,
    `http://[::1]:${port}`,
    `https://127.0.0.1:${port}`,
    `ws://127.0.0.1:${port}`,
    `HTTP://127.0.0.1:${port}`,
    `http://127.0.0.1:${port}/`,
    `http://127.0.0.1:${port} `.trimEnd() + '#',
    'http://127.0.0.1',
    `http://127.0.0.1:${port}0`,
    `http://127.0.0.1:${port + 1}`,
    `http://127.0.0.1:${port}.evil.example`,
    `http://127.0.0.1:${port}@evil.example`,
    `http://evil.example@127.0.0.1:${port}`,
    `http://127.0.0.1.evil.example:${port}`,
    `http://127.0.0.2:${port}`,
    `http://0.0.0.0:${port}`,
    `http://127.1:${port}`,
    `http://2130706433:${port}`,
    `//127.0.0.1:${port}`,
    `127.0.0.1:${port}`,
    'http://evil.example',
    'https://evil.example',
    `http://evil.example:${port}`,
    `http://evil.example/?http://127.0.0.1:${port}`,
    'https://friend.example.evil.example',
    'https://friend.example:443',
    'https://friend.example/',
    'http://friend.example',
    'https://FRIEND.example',
    'https://a.friend.example',
    'https://friend.examplex',
    'https://friend.exampl',
    'chrome-extension://abcdefghijklmnop',
    'moz-extension://abcdefghijklmnop',
    `http://127.0.0.1:${port}, http://evil.example`,
    `http://evil.example, http://127.0.0.1:${port}`,
    'data:text/html,x',
  ],
});

describe('admission', () => {
  verifies(
    ['admission/host', 'admission/origin'],
    'exactly the listed ones are let in, on every surface, before anything else',
    async () => {
      await using gateway = await startTestBridge({ hosts: ['named.example'], origins: ['https://friend.example'] });
      const port = Number(new URL(gateway.url).port);
      const hosts = toHosts(port);
      const origins = toOrigins(port);
      expect(hosts.denied.length).toBeGreaterThanOrEqual(25);
      expect(origins.denied.length).toBeGreaterThanOrEqual(40);
      const agent = new Agent({ keepAlive: true, maxSockets: 16 });

      const expected = (surface: Surface, host: string, origin: string | undefined): number => {
        if (!hosts.allowed.includes(host)) return 403;
        if (surface === '/uplink') return origin === gateway.url && !host.startsWith('named') ? 101 : 403;
        if (origin !== undefined && !origins.allowed.includes(origin)) return 403;
        return surface === '/ws' ? 101 : 503;
      };
      const cases = SURFACES.flatMap((surface) =>
        [...hosts.allowed, ...hosts.denied].flatMap((host) =>
          [undefined, ...origins.allowed, ...origins.denied].map((origin) => ({ surface, host, origin })),
        ),
      );
      const wrong: string[] = [];
      const queue = cases.values();
      const worker = async (): Promise<void> => {
        for (const { surface, host, origin } of queue) {
          const status = await getStatus(port, gateway.token, agent, surface, host, origin);
          const expectedStatus = expected(surface, host, origin);
          if (status !== expectedStatus) wrong.push(`${surface} Host ${host} Origin ${origin}: ${status}, not ${expectedStatus}`);
        }
      };
      await Promise.all(Array.from({ length: 16 }, worker));
      agent.destroy();
      expect(wrong).toEqual([]);
      expect(cases.filter(({ surface, host, origin }) => expected(surface, host, origin) === 403).length).toBeGreaterThan(3000);
    },
    60_000,
  );

  it('refuses a request target that is no path', async () => {
    await using gateway = await startTestBridge();
    const { port, host } = new URL(gateway.url);
    const status = await new Promise((resolve, reject) => {
      request({ port, host: '127.0.0.1', path: `http://evil.example/health`, headers: { host } }, (response) =>
        resolve(response.resume().statusCode),
      )
        .on('error', reject)
        .end();
    });
    expect(status).toBe(400);
  });

  it.each([
    ['an empty Host', 'HTTP/1.1\r\nHost:\r\n', '403'],
    ['no Host', 'HTTP/1.1\r\n', '400'],
    ['no Host, in HTTP/1.0', 'HTTP/1.0\r\n', '403'],
    ['two Hosts, the first one foreign', 'HTTP/1.1\r\nHost: evil.example\r\nHost: OWN\r\n', '403'],
    ['its own Host', 'HTTP/1.1\r\nHost: OWN\r\n', '200'],
  ])('answers %s as it must', async (_name, lines, status) => {
    await using gateway = await startTestBridge();
    const { port, host } = new URL(gateway.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.end(`GET /health ${lines.replace('OWN', host)}Connection: close\r\n\r\n`);
    expect((await text(socket)).slice(9, 12)).toBe(status);
  });

  verifies('http/cors', 'only listed origins get leave to read', async () => {
    await using gateway = await startTestBridge({ origins: ['https://friend.example'] });
    const preflight = (origin: string): Promise<Response> =>
      gateway.http('/v1/models', {
        method: 'OPTIONS',
        token: null,
        headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization,x-stainless-os' },
      });
    const friend = await preflight('https://friend.example');
    expect([friend.status, friend.headers.get('access-control-allow-origin'), friend.headers.get('vary')]).toEqual([
      204,
      'https://friend.example',
      'Origin',
    ]);
    expect(friend.headers.get('access-control-allow-headers')).toBe('authorization,x-stainless-os');
    const foe = await preflight('https://evil.example');
    expect([foe.status, foe.headers.get('access-control-allow-origin')]).toEqual([403, null]);
    await gateway.attach();
    const answer = await gateway.http('/v1/models', { headers: { origin: 'https://friend.example' } });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, 'https://friend.example']);
    expect((await gateway.http('/v1/models')).headers.get('access-control-allow-origin')).toBeNull();
  });

  it('knows an exposed gateway by the address at which the request arrived, and by no other', () => {
    const exposed = new Admission('http://127.0.0.1:7333', 7333, { exposed: true });
    const arrival = (host: string, localAddress: string, remoteAddress = '192.168.0.9') => ({
      url: '/',
      headers: { host },
      localAddress,
      remoteAddress,
      encrypted: false,
    });
    expect(exposed.refuse(arrival('192.168.0.5:7333', '::ffff:192.168.0.5'), false)).toBeUndefined();
    expect(exposed.refuse(arrival('[fe80::1]:7333', 'fe80::1%eth0'), false)).toBeUndefined();
    expect(exposed.refuse(arrival('192.168.0.6:7333', '::ffff:192.168.0.5'), false)).toMatchObject({ status: 403 });
    expect(exposed.refuse(arrival('evil.example:7333', '192.168.0.5'), false)).toMatchObject({ status: 403 });
    const closed = new Admission('http://127.0.0.1:7333', 7333);
    expect(closed.refuse(arrival('192.168.0.5:7333', '192.168.0.5'), false)).toMatchObject({ status: 403 });
    // A loopback name from another machine: API only.
    expect(exposed.isLocal(arrival('127.0.0.1:7333', '192.168.0.5'))).toBe(false);
    expect(exposed.isLocal(arrival('127.0.0.1:7333', '127.0.0.1', '127.0.0.1'))).toBe(true);
  });

  it.each(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])('%s is loopback', (address) => expect(isLoopback(address)).toBe(true));
  it.each(['localhost', '0.0.0.0', '::', '10.0.0.1', '127.0.0.1.evil.example', ''])('%j is not', (address) =>
    expect(isLoopback(address)).toBe(false),
  );
});
