import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LookupAddress } from 'node:dns';
import { gzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { WEB_LIMITS } from '#shared/ports/web-port.ts';
import { createPrivateUrls } from './private-urls.fixture.ts';
import type { ResolveHost } from './pinned-lookup.ts';
import { createWebHandlers } from './web-handlers.ts';

/** A resolver for these names. Each call returns the next list of addresses, and the last one from then on. */
function createResolver(table: Record<string, string[][]>): { resolve: ResolveHost; asked: string[] } {
  const asked: string[] = [];
  const resolve: ResolveHost = async (hostname) => {
    asked.push(hostname);
    const answers = table[hostname] ?? [];
    const now = answers.length > 1 ? answers.shift() : answers[0];
    if (!now) throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: 'ENOTFOUND' });
    return now.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
  return { resolve, asked };
}

interface FetchOptions {
  allow?: string[];
  resolve?: ResolveHost;
  ms?: number;
  signal?: AbortSignal;
  wants?: 'text' | 'picture';
}

function get(url: string, { allow = [], resolve, ms, signal = AbortSignal.timeout(15_000), wants = 'text' }: FetchOptions = {}) {
  const handlers = createWebHandlers({ ...(resolve ? { resolve } : {}), ...(ms === undefined ? {} : { ms }) });
  return handlers['web.fetch']({ url, allow, wants }, { signal, send: () => {} });
}

const toText = ({ body }: { body: string }): string => Buffer.from(body, 'base64').toString();

async function startSite(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    place,
    port: place.split(':')[1],
    url: `http://${place}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('non-public addresses', () => {
  verifies('web/ssrf', 'is refused in every spelling, before anything is asked', async () => {
    const urls = createPrivateUrls();
    expect(urls.length).toBeGreaterThanOrEqual(300);
    expect(new Set(urls).size).toBe(urls.length);
    // The resolver knows none of these names: reaching it means that the URL was not rejected.
    const { resolve, asked } = createResolver({});
    const refused = await Promise.all(
      urls.map((url) =>
        get(url, { resolve }).then(
          () => [url, 'fetched'],
          (error: { code?: string }) => [url, error.code],
        ),
      ),
    );
    expect(refused.filter(([, code]) => code !== 'INVALID_PARAMS')).toEqual([]);
    expect(asked).toEqual([]);
  });

  verifies('web/ssrf', 'is refused where a name leads there, by one of its addresses alone, and at the second asking', async () => {
    const privates = [
      '127.0.0.1',
      '10.0.0.8',
      '192.168.1.1',
      '169.254.169.254',
      '100.64.0.1',
      '::1',
      'fd00::1',
      'fe80::1',
      '::ffff:10.0.0.1',
      '64:ff9b::7f00:1',
      '0.0.0.0',
      '224.0.0.1',
    ];
    for (const address of privates) {
      const { resolve } = createResolver({ 'inner.test': [[address]], 'mixed.test': [['93.184.216.34', address]] });
      for (const url of ['http://inner.test/', 'https://mixed.test/', 'http://INNER.test./']) {
        await expect(
          get(url, { resolve: (name) => resolve(name.replace(/\.$/, '').toLowerCase()) }),
          `${url} ${address}`,
        ).rejects.toMatchObject({
          code: 'INVALID_PARAMS',
          message: expect.stringContaining('resolves to a blocked address'),
        });
      }
    }
  });

  verifies(
    'web/ssrf',
    'cannot be bypassed by DNS rebinding: a name is resolved once per connection, which goes to the checked address',
    async () => {
      let reached = 0;
      await using inside = await startSite((_, response) => {
        reached++;
        response.end('secret');
      });
      // Public at the check, private from then on; nothing listens at the public address.
      const { resolve, asked } = createResolver({ 'rebind.test': [['2a00::1'], ['127.0.0.1']] });
      const url = `http://rebind.test:${inside.port}/`;
      await expect(get(url, { resolve, ms: 300 })).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
      expect(asked).toEqual(['rebind.test']);
      await expect(get(url, { resolve })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
      expect(reached).toBe(0);
    },
  );

  verifies('web/ssrf', 'is refused where a redirect leads there', async () => {
    let target = '';
    await using outside = await startSite((_, response) => response.writeHead(302, { location: target }).end());
    for (target of [
      'http://127.0.0.1:1/',
      'http://localhost:1/',
      '//[::1]:80/',
      'http://169.254.169.254/latest/meta-data/',
      'http://2130706433/',
      'file:///etc/passwd',
      'gopher://93.184.216.34/',
      'http://user:pass@93.184.216.34/',
      'http://93.184.216.34:22/',
    ]) {
      await expect(get(outside.url, { allow: [outside.place] }), target).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    }
  });

  verifies('web/ssrf', 'allows the exact host and port that the person named, but never a service that holds credentials', async () => {
    await using inside = await startSite((_, response) => response.setHeader('content-type', 'text/plain').end('hello'));
    expect(toText(await get(inside.url, { allow: [inside.place] }))).toBe('hello');
    expect(toText(await get(inside.url, { allow: ['127.0.0.1'] }))).toBe('hello');
    const { resolve } = createResolver({ 'nas.local': [['127.0.0.1']], 'meta.local': [['169.254.169.254']] });
    expect(toText(await get(`http://nas.local:${inside.port}/`, { allow: [`nas.local:${inside.port}`], resolve }))).toBe('hello');
    await expect(get(inside.url, { allow: ['127.0.0.1:1', 'nas.local', '127.0.0.1.test', ''] })).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
    });
    await expect(get('http://169.254.169.254/', { allow: ['169.254.169.254'] })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    await expect(get('http://meta.local/', { allow: ['meta.local'], resolve })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  });
});

describe('fetching', () => {
  verifies('web/fetch', 'follows redirects to the end, unpacks, and tells type and address', async () => {
    await using server = await startSite((request, response) => {
      if (request.url === '/a') return response.writeHead(301, { location: 'b?x=1#part' }).end();
      if (request.url === '/loop') return response.writeHead(302, { location: '/loop' }).end();
      if (request.url === '/none') return response.writeHead(404).end('no');
      if (request.url === '/zip') return response.writeHead(200, { 'content-type': 'application/zip' }).end('PK');
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-encoding': 'gzip' }).end(gzipSync('<p>ü</p>'));
    });
    const allow = [server.place];
    const answer = await get(`${server.url}/a`, { allow });
    expect({ ...answer, body: toText(answer) }).toEqual({
      url: `${server.url}/b?x=1`,
      status: 200,
      contentType: 'text/html; charset=utf-8',
      body: '<p>ü</p>',
    });
    await expect(get(`${server.url}/loop`, { allow })).rejects.toThrow(`redirects more than ${WEB_LIMITS.redirects} times`);
    await expect(get(`${server.url}/none`, { allow })).rejects.toThrow('returned 404 Not Found');
    await expect(get(`${server.url}/zip`, { allow })).rejects.toThrow('not a text, page or PDF');
    await expect(get('not an address')).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  });

  verifies('web/fetch', 'takes so much and so long, packed or not, and ends when nobody wants it', async () => {
    const disconnected = Promise.withResolvers<void>();
    const bomb = gzipSync(Buffer.alloc(WEB_LIMITS.bytes * 4));
    await using server = await startSite((request, response) => {
      response.setHeader('content-type', 'text/plain');
      if (request.url === '/bomb') return response.setHeader('content-encoding', 'gzip').end(bomb);
      if (request.url === '/endless') {
        const more = (): void => void (response.destroyed || response.write(Buffer.alloc(64 * 1024), more));
        return more();
      }
      response.write('so far');
      response.on('close', () => disconnected.resolve());
    });
    const allow = [server.place];
    await expect(get(`${server.url}/bomb`, { allow })).rejects.toThrow('larger than 5 MB');
    await expect(get(`${server.url}/endless`, { allow })).rejects.toThrow('larger than 5 MB');
    await expect(get(`${server.url}/slow`, { allow, ms: 100 })).rejects.toThrow('took longer than 0.1 s');
    await disconnected.promise;
    const stop = new AbortController();
    const fetched = get(`${server.url}/slow`, { allow, signal: stop.signal });
    stop.abort(new Error('nobody wants it'));
    await expect(fetched).rejects.toThrow('nobody wants it');
  });
});

verifies('web/picture', 'a picture is fetched where one is wanted, and nothing else; none where a page is', async () => {
  const acceptHeaders: (string | undefined)[] = [];
  await using from = await startSite(({ url, headers }, response) => {
    acceptHeaders.push(headers.accept);
    response.setHeader('content-type', { '/a.png': 'image/png', '/a.svg': 'image/svg+xml' }[url ?? ''] ?? 'text/html').end('bytes');
  });
  const allow = [from.place];
  const picture = await get(`${from.url}/a.png`, { allow, wants: 'picture' });
  expect([picture.contentType, toText(picture)]).toEqual(['image/png', 'bytes']);
  expect(acceptHeaders).toEqual([expect.stringMatching(/^image\//)]);
  for (const path of ['/a.svg', '/page'])
    await expect(get(from.url + path, { allow, wants: 'picture' })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  await expect(get(`${from.url}/a.png`, { allow })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  await expect(get(`${from.url}/a.png`, { wants: 'picture' })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
});
