import { mkdir, rm } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { linkResult } from '#shared/link/link-credentials.ts';
import { LinkCodes } from './link-codes.ts';
import { startBridge } from './start-bridge.ts';
import { startTestBridge, type TestBridge, VAULT_KEY } from './tests/test-bridge.ts';
import { dialHost } from './tests/fake-host.ts';

const trade = (gateway: TestBridge, code: unknown, headers: Record<string, string> = { origin: gateway.url }): Promise<Response> =>
  gateway.http('/link', {
    method: 'POST',
    token: null,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ code }),
  });

describe('a link code', () => {
  verifies('link/code', 'traded once for two credentials, which are stored', async () => {
    await using gateway = await startTestBridge();
    const code = gateway.bridge.issueCode(60_000);
    const answer = await trade(gateway, code);
    const { app, host } = linkResult.parse(await answer.json());
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(await gateway.home.credentials()).toMatchObject([
      { ...app, kind: 'app' },
      { ...host, kind: 'host' },
    ]);
    const again = await trade(gateway, code);
    expect([again.status, await again.json()]).toEqual([
      401,
      {
        error: { message: expect.stringContaining('already used or has expired'), type: 'unauthorized', param: null, code: 'unauthorized' },
      },
    ]);
    expect(gateway.lines.join('\n')).not.toContain(code);
    expect(gateway.lines.join('\n')).not.toContain(app.secret);
  });

  verifies('link/code', 'traded once by many who try at the same time', async () => {
    await using gateway = await startTestBridge();
    const code = gateway.bridge.issueCode(60_000);
    const statuses = (await Promise.all(Array.from({ length: 8 }, () => trade(gateway, code)))).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, ...Array(7).fill(401)]);
  });

  verifies('link/code', 'it expires by a clock that nobody sets', () => {
    let now = 0;
    const codes = new LinkCodes(() => now);
    const code = codes.issue(60_000);
    const other = codes.issue(60_000);
    now = 59_999;
    expect(codes.redeem(code)).toBeDefined();
    now = 60_000;
    expect(codes.redeem(other)).toBeUndefined();
  });

  it('is good for the app on its own origin alone', async () => {
    await using gateway = await startTestBridge({ origins: ['https://friend.example'] });
    const code = gateway.bridge.issueCode(60_000);
    const others: Record<string, string>[] = [{}, { origin: 'https://friend.example' }, { origin: 'null' }];
    for (const headers of others) expect((await trade(gateway, code, headers)).status).toBe(403);
    expect((await trade(gateway, code)).status).toBe(200);
  });

  it('may be guessed at ten times, and the right one still works', async () => {
    await using gateway = await startTestBridge();
    const code = gateway.bridge.issueCode(60_000);
    const statuses = [];
    for (let i = 0; i < 12; i++) statuses.push((await trade(gateway, `guess-${i}`)).status);
    expect(statuses).toEqual([...Array(10).fill(401), 429, 429]);
    expect((await trade(gateway, code)).status).toBe(200);
  });

  it.each([[undefined], [5], [''], ['x'.repeat(101)], [{}]])('of the wrong form (%j) is a 400', async (code) => {
    await using gateway = await startTestBridge();
    expect((await trade(gateway, code)).status).toBe(400);
  });

  it('stays good when the credential could not be stored', async () => {
    await using gateway = await startTestBridge();
    const code = gateway.bridge.issueCode(60_000);
    await mkdir(gateway.home.credentialsFile);
    const failed = await trade(gateway, code);
    expect([failed.status, await failed.json()]).toEqual([
      500,
      { error: { message: expect.stringContaining('still valid'), type: 'api_error', param: null, code: 'api_error' } },
    ]);
    await rm(gateway.home.credentialsFile, { recursive: true, maxRetries: 20, retryDelay: 50 });
    expect((await trade(gateway, code)).status).toBe(200);
  });
});

describe('POST /link/code', () => {
  verifies('link/code', 'the owner gets an address with a code for a minute, and nobody else', async () => {
    await using gateway = await startTestBridge();
    const requestCode = (token: string | null): Promise<Response> => gateway.http('/link/code', { method: 'POST', token });
    expect([(await requestCode(null)).status, (await requestCode('wrong')).status]).toEqual([401, 401]);
    const { url, expiresInMs } = (await (await requestCode(gateway.token)).json()) as { url: string; expiresInMs: number };
    expect([url.split('#link=')[0], expiresInMs]).toEqual([`${gateway.url}/`, 60_000]);
    expect((await trade(gateway, url.split('#link=')[1])).status).toBe(200);
  });
});

it('a linked browser is still known after a restart', async () => {
  await using gateway = await startTestBridge({ mode: 'tab' });
  const { host: credential } = linkResult.parse(await (await trade(gateway, gateway.bridge.issueCode(60_000))).json());
  await gateway.bridge.close();
  const { home, token, journal, appDir } = gateway;
  const bridge = await startBridge({ port: 0, bind: '127.0.0.1', home, token, journal, vaultKey: VAULT_KEY, mode: 'tab', appDir });
  const host = await dialHost({ url: bridge.url, credential });
  await expect.poll(() => bridge.hosts.kind).toBe('tab');
  await host.close();
  await bridge.close();
});
