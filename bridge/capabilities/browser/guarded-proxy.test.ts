import { once } from 'node:events';
import { request } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { createPrivateUrls } from '../private-urls.fixture.ts';
import { HostAllowlist } from '../web-guard.ts';
import { startGuardedProxy } from './guarded-proxy.ts';

/** A server that answers every request with these bytes. */
async function startAnsweringServer(bytes: string) {
  const server = createServer((socket) => socket.on('error', () => {}).once('data', () => socket.end(bytes, 'latin1')));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { place, [Symbol.dispose]: () => void server.close() };
}

async function getStatusThrough(proxy: string, place: string): Promise<number | undefined> {
  const outgoing = request(proxy, { path: `http://${place}/`, headers: { host: place }, agent: false }).end();
  const [response] = await once(outgoing, 'response');
  response.resume();
  return response.statusCode;
}

verifies('browser/hostile-page', 'an answer that is no HTTP is a bad gateway, and the proxy goes on', async () => {
  for (const head of [
    'HTTP/1.1 000 Nothing',
    'HTTP/1.1 099 Less',
    'HTTP/1.1 101 Switching',
    'HTTP/1.1 200 OK\r\nx: a\x01b',
    'no HTTP at all',
  ]) {
    using site = await startAnsweringServer(`${head}\r\n\r\nbody`);
    await using proxy = await startGuardedProxy({ allowed: () => new HostAllowlist([site.place]) });
    expect(await getStatusThrough(proxy.url, site.place), head).toBe(502);
  }
  using site = await startAnsweringServer('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody');
  await using proxy = await startGuardedProxy({ allowed: () => new HostAllowlist([site.place]) });
  expect(await getStatusThrough(proxy.url, site.place)).toBe(200);
});

verifies('browser/guard', 'a connection to a place that is not allowed any more ends', async () => {
  using site = await startAnsweringServer('hello');
  using other = await startAnsweringServer('hello');
  let allowed = new HostAllowlist([site.place, other.place]);
  await using proxy = await startGuardedProxy({ allowed: () => allowed });
  const tunnel = async ({ place }: { place: string }) => {
    const socket = connect(Number(new URL(proxy.url).port), '127.0.0.1').setEncoding('latin1');
    socket.write(`CONNECT ${place} HTTP/1.1\r\nHost: ${place}\r\n\r\n`);
    expect((await once(socket, 'data'))[0]).toContain('200');
    return socket;
  };
  const [kept, ended] = [await tunnel(site), await tunnel(other)];
  allowed = new HostAllowlist([site.place]);
  const closed = once(ended, 'close');
  proxy.recheck();
  await closed;
  kept.write('anything');
  expect(await once(kept, 'data')).toEqual(['hello']);
});

/** First line of the proxy's answer to these bytes; empty if it closes the connection. */
async function readFirstLine(proxy: string, text: string): Promise<string> {
  const socket = connect(Number(new URL(proxy).port), '127.0.0.1').setEncoding('latin1');
  socket.on('error', () => {}).write(text);
  const [data] = (await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => [''])])) as [string];
  socket.destroy();
  return data.split('\r\n')[0] ?? '';
}

verifies(
  'browser/guard',
  'private addresses are refused in every spelling, requested or tunnelled, and by what a name resolves to',
  async () => {
    using site = await startAnsweringServer('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody');
    const port = site.place.split(':')[1] ?? '';
    const resolved: string[] = [];
    await using proxy = await startGuardedProxy({
      allowed: () => new HostAllowlist([]),
      resolve: (name) => {
        resolved.push(name);
        return Promise.resolve([{ address: '127.0.0.1', family: 4 }]);
      },
    });
    for (const url of createPrivateUrls()) {
      const place = URL.parse(url);
      // Others are rejected for reasons other than the host, or are invalid URLs.
      if (!place || ['93.184.216.34', 'example.com'].includes(place.hostname)) continue;
      const host = `${place.hostname}:${port}`;
      expect(await readFirstLine(proxy.url, `GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\n\r\n`), url).toContain(' 403 ');
      expect(await readFirstLine(proxy.url, `CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`), url).toContain(' 403 ');
    }
    resolved.length = 0;
    const named = `rebinding.test:${port}`;
    expect(await readFirstLine(proxy.url, `GET http://${named}/ HTTP/1.1\r\nHost: ${named}\r\n\r\n`)).toContain(' 502 ');
    expect(await readFirstLine(proxy.url, `CONNECT ${named} HTTP/1.1\r\nHost: ${named}\r\n\r\n`)).toBe('');
    expect(resolved).toEqual(['rebinding.test', 'rebinding.test']);
  },
);
