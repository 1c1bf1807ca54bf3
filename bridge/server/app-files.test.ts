import { rm, utimes, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { FRAME_CSP, PAGE_CSP, startTestBridge, WORKER_CSP } from './tests/test-bridge.ts';

const page = { token: null, headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } };
const file = { token: null, headers: { accept: '*/*' } };

describe('the app', () => {
  for (const path of ['/', '/index.html', '/settings', '/s/main/main?x=1', '/v1x']) {
    verifies('app/csp', `a navigation to ${path} gets the page under its own policy`, async () => {
      await using gateway = await startTestBridge();
      const answer = await gateway.http(path, page);
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('<title>Perch</title>')]);
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-security-policy': `${PAGE_CSP}; frame-ancestors 'none'`,
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-cache',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
      });
    });
  }

  it('gives the managed browser a page of its own', async () => {
    await using gateway = await startTestBridge();
    const answer = await gateway.http('/host', page);
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('<title>Perch host</title>')]);
    expect(answer.headers.get('content-security-policy')).toBe(`${PAGE_CSP}; frame-ancestors 'none'`);
  });

  verifies(
    'artifacts/sandbox',
    'the frame for previews comes under its own policy, for the app alone to frame, and without connections',
    async () => {
      await using gateway = await startTestBridge();
      const answer = await gateway.http('/frame.html', page);
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('<title>Preview</title>')]);
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-security-policy': `${FRAME_CSP}; frame-ancestors 'self'`,
        'connection-allowlist': '()',
        'server-timing': 'closed',
        'content-type': 'text/html; charset=utf-8',
      });
    },
  );

  for (const [path, cache, policy, type] of [
    [
      '/_app/immutable/workers/worker.js',
      'public, max-age=31536000, immutable',
      WORKER_CSP,
      expect.stringMatching(/javascript; charset=utf-8$/),
    ],
    [
      '/_app/immutable/chunk.js',
      'public, max-age=31536000, immutable',
      "default-src 'none'",
      expect.stringMatching(/javascript; charset=utf-8$/),
    ],
    ['/service-worker.js', 'no-cache', WORKER_CSP, expect.stringMatching(/javascript; charset=utf-8$/)],
    ['/icon.svg', 'no-cache', null, 'image/svg+xml'],
  ] as const) {
    verifies('app/csp', `${path} comes with its cache rule and policy, compressed or not`, async () => {
      await using gateway = await startTestBridge();
      for (const encoding of ['br', 'identity']) {
        const answer = await gateway.http(path, { ...file, headers: { ...file.headers, 'accept-encoding': encoding } });
        expect([
          answer.status,
          answer.headers.get('cache-control'),
          answer.headers.get('content-security-policy'),
          answer.headers.get('content-type'),
        ]).toEqual([200, cache, policy, type]);
        expect(answer.headers.get('content-encoding')).toBe(path.includes('immutable') && encoding === 'br' ? 'br' : null);
        expect((await answer.text()).length).toBeGreaterThan(20);
      }
    });
  }

  it.each([
    ['/nothing.js', file],
    ['/health/x', page],
    ['/link', page],
    ['/ws', page],
    ['/uplink', file],
  ])(
    '%s is no page',
    async (path, init) => {
      await using gateway = await startTestBridge();
      const answer = await gateway.http(path, init);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'application/json; charset=utf-8']);
      expect(await answer.json()).toEqual({ error: { message: expect.any(String), type: 'not_found', param: null, code: 'not_found' } });
    },
    20_000,
  );

  it.each(['/../../home/token', '/%2e%2e/%2e%2e/home/token', '/..%2fhome/token', '/.env', '/%00', '/%zz'])(
    'keeps to its folder (%s)',
    async (path) => {
      await using gateway = await startTestBridge();
      const { port, host } = new URL(gateway.url);
      const answer = await new Promise<{ status: number; text: string }>((resolve, reject) => {
        request({ port, host: '127.0.0.1', path, headers: { host } }, (response) => {
          let text = '';
          response.on('data', (part) => (text += part)).on('end', () => resolve({ status: response.statusCode ?? 0, text }));
        })
          .on('error', reject)
          .end();
      });
      expect([400, 403, 404]).toContain(answer.status);
      expect(answer.text).not.toContain(gateway.token);
    },
  );

  verifies('app/canonical-origin', 'pages asked for under localhost, and nothing else, are sent on', async () => {
    await using gateway = await startTestBridge();
    const { port } = new URL(gateway.url);
    const getPage = (path: string, headers: Record<string, string>): Promise<[number | undefined, string | undefined]> =>
      new Promise((resolve, reject) => {
        request({ port, host: '127.0.0.1', path, headers: { host: `localhost:${port}`, ...headers } }, (response) =>
          resolve([response.resume().statusCode, response.headers.location]),
        )
          .on('error', reject)
          .end();
      });
    expect(await getPage('/s/main?x=1', page.headers)).toEqual([307, `${gateway.url}/s/main?x=1`]);
    expect(await getPage('//evil.example/', page.headers)).toEqual([307, `${gateway.url}//evil.example/`]);
    expect(await getPage('/', { ...page.headers, origin: `http://localhost:${port}` })).toEqual([307, `${gateway.url}/`]);
    expect(await getPage('/icon.svg', file.headers)).toEqual([200, undefined]);
    expect((await getPage('/v1/models', { ...page.headers, authorization: `Bearer ${gateway.token}` }))[0]).toBe(503);
  });

  verifies('app/csp', 'an app built again while the bridge runs is served with its new policy', async () => {
    await using gateway = await startTestBridge();
    await gateway.http('/', page);
    const index = join(gateway.appDir, 'index.html');
    await writeFile(index, `<meta http-equiv="content-security-policy" content="default-src &#39;self&#39;">new`);
    await utimes(index, 1, 1);
    const answer = await gateway.http('/', page);
    expect(answer.headers.get('content-security-policy')).toBe("default-src 'self'; frame-ancestors 'none'");
  });

  verifies('app/csp', 'are never served without a policy; an app that is not built says what to do', async () => {
    await using gateway = await startTestBridge();
    await writeFile(join(gateway.appDir, 'index.html'), '<title>Perch</title>');
    expect((await gateway.http('/', page)).status).toBe(500);
    expect(gateway.lines.join()).toContain('has no content security policy');
    await rm(join(gateway.appDir, 'index.html'));
    const missing = await gateway.http('/', page);
    expect([missing.status, await missing.text()]).toEqual([503, expect.stringContaining('npm run build')]);
  });
});
