import { createHash } from 'node:crypto';
import { describe, expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { renderNoticePage } from '#shared/http/notice-page.ts';
import { startTestBridge, type TestBridge } from './tests/test-bridge.ts';
import { dialHost } from './tests/fake-host.ts';
import { navigate } from './tests/navigate.ts';

const visitCallback = ({ url }: TestBridge, path: string, init?: Parameters<typeof navigate>[1]): Promise<Response> =>
  navigate(`${url}${path}`, init);

const readPage = (status: number, title = 'T'): Response => {
  const { body, ...head } = renderNoticePage({ status, title, text: 'Text' });
  return new Response(body, head);
};

describe('the OAuth callback', () => {
  verifies('oauth/callback', 'reaches the active host, without a token, and with only the needed parameters', async () => {
    await using gateway = await startTestBridge();
    const requests: string[] = [];
    const host = await gateway.attach({ http: async ({ url, method }) => (requests.push(`${method} ${url}`), readPage(200)) });
    const answer = await visitCallback(gateway, '/oauth/callback?code=a%20b&state=s&x=1&error_description=d', {
      headers: { cookie: 'c=1', authorization: 'Bearer wrong', 'x-perch-session': 'main' },
    });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('Text')]);
    expect(requests).toEqual([`GET ${gateway.url}/oauth/callback?code=a+b&state=s&error_description=d`]);
    expect(host.openings).toEqual([
      {
        ...{ kind: 'http', principal: 'callback', scopes: [], origin: null },
        headers: { ':method': 'GET', ':path': '/oauth/callback?code=a+b&state=s&error_description=d', 'x-perch-head': '0' },
      },
    ]);
    expect(gateway.lines.join()).not.toContain('code=');
  });

  verifies('oauth/callback', 'only looked at, by a browser of this machine that navigates, under a name of the bridge', async () => {
    await using gateway = await startTestBridge({ origins: ['https://friend.test'] });
    const host = await gateway.attach();
    const getStatus = async (headers: Record<string, string>, method = 'GET', path = '/oauth/callback?state=s'): Promise<number> =>
      (await visitCallback(gateway, path, { headers, method })).status;
    expect(await getStatus({ host: 'evil.test' })).toBe(403);
    expect(await getStatus({ origin: 'https://evil.test' })).toBe(403);
    expect(await getStatus({ 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' })).toBe(403);
    expect(await getStatus({ 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' })).toBe(403);
    for (const method of ['POST', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']) expect(await getStatus({}, method), method).toBe(405);
    expect(host.openings).toEqual([]);
    expect(await getStatus({ 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' })).toBe(200);
    expect(await getStatus({}, 'GET', '/oauth/callback/more?state=s')).toBe(404);
    expect(await getStatus({ accept: 'text/html' }, 'GET', '/oauth')).toBe(404);
    expect(host.openings).toHaveLength(1);
  });

  verifies('oauth/guessing', 'at most ten unknown callbacks are processed; known ones do not count', async () => {
    await using gateway = await startTestBridge();
    const host = await gateway.attach({ http: async ({ url }) => readPage(new URL(url).searchParams.get('state') === 'good' ? 200 : 404) });
    const visit = (state: string, headers = {}): Promise<Response> => visitCallback(gateway, `/oauth/callback?state=${state}`, { headers });
    for (let n = 0; n < 12; n++) expect((await visit('good')).status).toBe(200);
    for (let n = 0; n < 12; n++) expect((await visit('bad', { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' })).status).toBe(403);
    for (let n = 0; n < 10; n++) expect((await visit(`bad${n}`)).status).toBe(404);
    const locked = await visit('good');
    expect([locked.status, Number(locked.headers.get('retry-after'))]).toEqual([429, expect.closeTo(300, -1)]);
    expect(await locked.text()).toContain('Start again in Perch in 5 minutes');
    expect(host.openings).toHaveLength(22);
    // Other requests are not locked out.
    expect((await gateway.http('/v1/models')).status).toBe(404);
  });

  verifies('oauth/page', 'no host, or a failing one: shows an error page', async () => {
    await using gateway = await startTestBridge({ timing: { hostWaitMs: 20 } });
    const visit = async (): Promise<[number, string, string | null]> => {
      const answer = await visitCallback(gateway, '/oauth/callback?state=s');
      return [answer.status, await answer.text(), answer.headers.get('retry-after')];
    };
    const unavailable = [503, expect.stringContaining('Open Perch in a tab, then reload this page'), '2'];
    expect(await visit()).toEqual(unavailable);
    const host = await dialHost({
      ...{ url: gateway.url, credential: gateway.bridge.hostCredential() },
      rawHttp: (stream) => stream.reset(1011, 'broke'),
    });
    await gateway.bridge.hosts.wait(5000);
    expect(await visit()).toEqual(unavailable);
    host.die();
  });
});

verifies('oauth/page', 'a policy that lets nothing act, and text that stays text', async () => {
  await using gateway = await startTestBridge({ timing: { hostWaitMs: 1 } });
  const answer = await visitCallback(gateway, '/oauth/callback?state=<script>');
  const html = await answer.text();
  const style = /<style>(.*)<\/style>/.exec(html)?.[1] ?? '';
  const hash = createHash('sha256').update(style).digest('base64');
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  });
  expect(html).not.toContain('script');
  expect(style).toContain('color-scheme:light dark');
  expect(renderNoticePage({ status: 200, title: '<img src=x onerror="a">', text: `</p><script>'&'</script>` }).body).toContain(
    '<h1>&lt;img src=x onerror=&quot;a&quot;&gt;</h1><p>&lt;/p&gt;&lt;script&gt;&#39;&amp;&#39;&lt;/script&gt;</p>',
  );
});
