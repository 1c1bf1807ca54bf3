import { describe, expect } from 'vitest';
import { navigate } from '../../../../bridge/server/tests/navigate.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { waitFor } from '../../../../tests/support/test-gateway.ts';
import { createEgressGateway } from '../../../../tests/support/egress-gateway.ts';
import { connectAsProgram, getToolResults, waitForServerState, getServerState } from '../../../../tests/support/mcp-fixtures.ts';
import { type OauthServer, startOauthServer } from '../../../../tests/support/oauth-server.ts';

/** A gateway with a bridge, and one tool server that wants permission. */
async function createOauthGateway(settings: Record<string, unknown> = {}) {
  const server = await startOauthServer();
  const at = await createEgressGateway();
  const { client, events } = at;
  await client.call('config.patch', { patch: { tools: { policies: { 'mcp:*': 'auto' }, afterReading: { 'mcp:*': ['mcp:*'] } } } });
  await client.call('config.set', { key: 'tools.mcpServers.far', value: { url: server.url, ...settings } });
  await waitForServerState(client, 'far', 'unauthorized');
  const link = async (): Promise<string> => (await client.call('mcp.authorize', { name: 'far' })).url;
  return {
    ...at,
    server,
    link,
    /** The final page for a person who follows a link. */
    follow: (url: string) => followLink(url),
    async use(): Promise<unknown> {
      const before = getToolResults(events).length;
      await client.call('chat.send', { message: '/tool mcp__far__look {}' });
      return getToolResults(events)[before];
    },
    secret: () => at.gw.vault.secrets.get('mcp-oauth.far'),
    async [Symbol.asyncDispose]() {
      await at[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

async function followLink(url: string): Promise<{ status: number; text: string; back: URL }> {
  const away = await navigate(url);
  const back = new URL(away.headers.get('location') ?? '');
  const page = await navigate(back.href);
  return { status: page.status, text: await page.text(), back };
}

describe('a tool server that requires authorization', () => {
  verifies('mcp-oauth/authorize', 'waits for a person, who follows the link; then its tools are there, and answer', async () => {
    await using at = await createOauthGateway();
    expect(await getServerState(at.client, 'far')).toMatchObject({
      state: 'unauthorized',
      tools: 0,
      wants: 'tools:read',
      error: expect.stringContaining('Authorization is required'),
    });
    // No client is registered without a person's action.
    expect(at.server.seen.filter((each) => each.at === 'issuer')).toEqual([]);
    const url = new URL(await at.link());
    expect(Object.fromEntries(url.searchParams)).toEqual({
      ...{ response_type: 'code', client_id: 'client-1', code_challenge: expect.any(String), code_challenge_method: 'S256' },
      ...{ redirect_uri: `${at.bridge.url}/oauth/callback`, state: expect.stringMatching(/^[\w-]{43}$/) },
      ...{ scope: 'tools:read', resource: at.server.url },
    });
    expect(await at.follow(url.href)).toMatchObject({
      status: 200,
      text: expect.stringContaining('MCP server far is connected. You can close this window.'),
    });
    expect(await waitForServerState(at.client, 'far', 'ready')).toMatchObject({ tools: 1 });
    expect(await at.use()).toMatchObject({ text: expect.stringContaining('seen with tools:read') });
    await at.client.call('mcp.restart', { name: 'far' });
    await waitForServerState(at.client, 'far', 'ready');
    expect(at.server.lines('issuer').filter((line) => line === 'POST /token')).toHaveLength(1);
  });

  verifies('mcp-oauth/person', 'only a person gets a link; servers without any permission say so', async () => {
    await using at = await createOauthGateway();
    const program = await connectAsProgram(at.gw);
    await expect(program.call('mcp.authorize', { name: 'far' })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    await expect(at.client.call('mcp.authorize', { name: 'none' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const servers = {
      command: { command: process.execPath, args: ['-e', '0'] },
      header: { url: at.server.url, headers: { authorization: 'Bearer own' } },
    };
    await at.client.call('config.patch', { patch: { tools: { mcpServers: servers } } });
    for (const [name, why] of [
      ['command', /runs as a command/],
      ['header', /has an Authorization header/],
    ] as const)
      await expect(at.client.call('mcp.authorize', { name })).rejects.toMatchObject({
        code: 'INVALID_PARAMS',
        message: expect.stringMatching(why),
      });
    expect((await waitForServerState(at.client, 'header', 'failed')).error).toContain('denied access (HTTP 401: not you)');
  });

  verifies(
    'mcp-oauth/renewed',
    'an expired token is renewed, once for all who wait; a void one wants a person again',
    async () => {
      await using at = await createOauthGateway();
      await at.follow(await at.link());
      await waitForServerState(at.client, 'far', 'ready');
      const first = await at.secret();
      at.server.expire();
      await Promise.all(['a', 'b', 'c'].map((sessionId) => at.client.call('chat.send', { sessionId, message: '/tool mcp__far__look {}' })));
      await waitFor(() => getToolResults(at.events).length === 3);
      expect(getToolResults(at.events).filter(({ text }) => String(text).includes('seen with'))).toHaveLength(3);
      expect(at.server.lines('issuer').filter((line) => line === 'POST /token')).toHaveLength(2);
      expect(await at.secret()).not.toBe(first);
      // Its issuer is away for a while: that is no reason to ask a person.
      at.server.expire();
      at.server.instead.set('/token', () => ({ status: 503, body: 'later' }));
      await at.use();
      await waitForServerState(at.client, 'far', 'failed');
      at.server.instead.clear();
      await waitForServerState(at.client, 'far', 'ready');
      at.server.expire();
      at.server.revoke();
      await at.use();
      await waitForServerState(at.client, 'far', 'unauthorized');
      expect(await at.secret()).not.toMatch(/at-|rt-/);
      await at.follow(await at.link());
      await waitForServerState(at.client, 'far', 'ready');
      // The client is already registered there.
      expect(at.server.lines('issuer').filter((line) => line === 'POST /register')).toHaveLength(1);
    },
    40_000,
  );

  verifies('mcp-oauth/more', 'a tool that wants more says so, and the next link asks for it', async () => {
    await using at = await createOauthGateway();
    await at.follow(await at.link());
    await waitForServerState(at.client, 'far', 'ready');
    at.server.toolScope = 'tools:write';
    expect(JSON.stringify(await at.use())).toContain('needs more permissions for this. Authorize it again.');
    expect(await getServerState(at.client, 'far')).toMatchObject({ state: 'ready', wants: 'tools:read tools:write' });
    const url = await at.link();
    expect(new URL(url).searchParams.get('scope')).toBe('tools:read tools:write');
    await at.follow(url);
    expect(await at.use()).toMatchObject({ text: expect.stringContaining('seen with tools:read tools:write') });
    expect((await getServerState(at.client, 'far'))?.wants).toBeUndefined();
  });

  verifies('mcp-oauth/kept', 'sealed, shown nowhere, and gone with the server or its address', async () => {
    await using at = await createOauthGateway();
    await at.follow(await at.link());
    await waitForServerState(at.client, 'far', 'ready');
    const storedSecret = await at.secret();
    const token = /at-[\w-]+/.exec(storedSecret ?? '')?.[0] ?? 'none';
    const visibleText = JSON.stringify([
      await at.client.call('config.get', {}),
      await at.client.call('mcp.list', {}),
      await at.client.call('logs.tail', {}),
      at.events,
    ]);
    expect([visibleText.includes(token), at.bridge.lines.join().includes(token)]).toEqual([false, false]);
    await at.client.call('config.set', { key: 'tools.mcpServers.far.timeoutMs', value: 5000 });
    await waitForServerState(at.client, 'far', 'ready');
    expect(await at.secret()).toBe(storedSecret);
    await at.client.call('config.set', { key: 'tools.mcpServers.far', value: { url: `${at.server.origin}/other` } });
    expect(await at.secret()).toBeUndefined();
    await at.client.call('config.set', { key: 'tools.mcpServers.far', value: { url: at.server.url } });
    await waitForServerState(at.client, 'far', 'unauthorized');
    await at.follow(await at.link());
    await waitForServerState(at.client, 'far', 'ready');
    const link = await at.link();
    await at.client.call('config.patch', { patch: { tools: { mcpServers: { far: null } } } });
    expect(await at.secret()).toBeUndefined();
    await waitFor(async () => (await getServerState(at.client, 'far')) === undefined);
    // A link of a server that is gone is good for nothing.
    expect(await at.follow(link)).toMatchObject({ status: 404 });
    expect(await at.secret()).toBeUndefined();
  });

  verifies('mcp-oauth/authorize', 'uses a pre-registered client if dynamic registration is unavailable', async () => {
    await using at = await createOauthGateway({ oauth: { clientId: 'known', clientSecret: 'sesame', scopes: ['extra'] } });
    at.server.registers = false;
    at.server.metadata = { token_endpoint_auth_methods_supported: ['client_secret_basic'] };
    const url = await at.link();
    expect([new URL(url).searchParams.get('client_id'), new URL(url).searchParams.get('scope')]).toEqual(['known', 'tools:read extra']);
    expect(await at.follow(url)).toMatchObject({ status: 200 });
    await waitForServerState(at.client, 'far', 'ready');
    const tokenRequest = at.server.seen.find(({ line }) => line === 'POST /token');
    expect(tokenRequest?.headers.authorization).toBe(`Basic ${btoa('known:sesame')}`);
    expect(JSON.stringify(await at.client.call('config.get', {}))).not.toContain('sesame');
    await expect(at.client.call('config.set', { key: 'tools.mcpServers.far.url', value: 'http://127.0.0.1:1/mcp' })).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
      message: expect.stringContaining('oauth.clientSecret'),
    });
  });
});

describe('malicious metadata documents and issuers', () => {
  const LINKS: [what: string, turn: (server: OauthServer) => void, why: RegExp][] = [
    ['another issuer in the document', (server) => (server.metadata = { issuer: 'https://other.example.com' }), /issuer/i],
    ['a page that runs', (server) => (server.metadata = { authorization_endpoint: 'javascript:alert(1)' }), /./],
    [
      'a page in the clear',
      (server) => (server.metadata = { authorization_endpoint: 'http://evil.example.com/authorize' }),
      /not at a secure URL/,
    ],
    [
      'a page with a password',
      (server) => (server.metadata = { authorization_endpoint: 'https://u:p@evil.example.com/authorize' }),
      /not at a secure URL/,
    ],
    ['a file', (server) => (server.metadata = { authorization_endpoint: 'file:///etc/passwd' }), /secure URL|./],
    ['no PKCE', (server) => (server.metadata = { code_challenge_methods_supported: ['plain'] }), /code challenge|S256/i],
    ['no codes', (server) => (server.metadata = { response_types_supported: ['token'] }), /response type/i],
    ['what is another’s resource', (server) => (server.resource = { resource: 'https://victim.example.com/mcp' }), /does not match/],
    [
      'the machine’s own credentials',
      (server) => (server.resource = { authorization_servers: ['http://169.254.169.254'] }),
      /is always blocked/,
    ],
    [
      'a huge document',
      (server) => void server.instead.set('/.well-known/oauth-authorization-server', () => ({ body: { x: 'x'.repeat(300_000) } })),
      /more than 256 KiB/,
    ],
    [
      'a document that is none',
      (server) => void server.instead.set('/.well-known/oauth-authorization-server', () => ({ body: '[[[[' })),
      /./,
    ],
    [
      'one that sends on',
      (server) => void server.instead.set('/register', () => ({ status: 307, headers: { location: `${server.origin}/moved` }, body: '' })),
      /./,
    ],
    ['no registration', (server) => (server.registers = false), /./],
    ['a registration that is none', (server) => void server.instead.set('/register', () => ({ status: 201, body: { client_id: 5 } })), /./],
  ];
  verifies('mcp-oauth/hostile', 'no link, but a sentence; the server waits as before', async () => {
    await using at = await createOauthGateway();
    for (const [what, turn, why] of LINKS) {
      Object.assign(at.server, { metadata: {}, resource: {}, registers: true });
      at.server.instead.clear();
      turn(at.server);
      const failure: unknown = await at.link().then(
        (url) => `a link: ${url}`,
        (error: unknown) => error,
      );
      expect(failure, what).toMatchObject({ code: 'INTERNAL_ERROR', message: expect.stringMatching(why) });
      expect((await getServerState(at.client, 'far'))?.state, what).toBe('unauthorized');
    }
    expect(at.server.lines('issuer')).not.toContain('POST /token');
    expect(at.server.lines('server').join()).not.toContain('/moved');
    expect(at.gw.faults).toEqual([]);
  });

  verifies('mcp-oauth/hostile', 'codes of another issuer are not traded; what was permitted stays', async () => {
    await using at = await createOauthGateway();
    await at.follow(await at.link());
    await waitForServerState(at.client, 'far', 'ready');
    const storedSecret = await at.secret();
    const trades = (): number => at.server.lines('issuer').filter((line) => line === 'POST /token').length;
    at.server.metadata = { authorization_response_iss_parameter_supported: true };
    for (const iss of ['https://other.example.com', undefined]) {
      at.server.iss = iss;
      expect(await at.follow(await at.link()), String(iss)).toMatchObject({
        status: 502,
        text: expect.stringContaining('To try again, start in Perch'),
      });
    }
    expect(trades()).toBe(1);
    at.server.iss = at.server.issuer;
    at.server.instead.set('/token', () => ({ body: { access_token: 7 } }));
    expect(await at.follow(await at.link())).toMatchObject({ status: 502 });
    at.server.instead.set('/token', () => ({ status: 400, body: { error: 'invalid_grant', error_description: '<script>' } }));
    const page = await at.follow(await at.link());
    expect([page.status, page.text.includes('<script>')]).toEqual([502, false]);
    at.server.instead.clear();
    expect([await at.secret(), (await getServerState(at.client, 'far'))?.state]).toEqual([storedSecret, 'ready']);
    expect(await at.use()).toMatchObject({ text: expect.stringContaining('seen with') });
    expect(await at.follow(await at.link())).toMatchObject({ status: 200 });
    expect(at.gw.faults).toEqual([]);
  });

  verifies('mcp-oauth/named', 'none of the server’s own headers, and no token of it, go to its issuer', async () => {
    await using at = await createOauthGateway({ headers: { 'x-api-key': 'sesame' } });
    await at.follow(await at.link());
    await waitForServerState(at.client, 'far', 'ready');
    at.server.expire();
    await at.use();
    const issuerRequests = at.server.seen.filter((each) => each.at === 'issuer' && !each.line.includes('/authorize'));
    expect(issuerRequests.map(({ line }) => line)).toEqual([
      'GET /.well-known/oauth-authorization-server',
      'POST /register',
      'POST /token',
      'POST /token',
    ]);
    for (const { headers } of issuerRequests) expect([headers['x-api-key'], headers.authorization]).toEqual([undefined, undefined]);
    expect(at.server.seen.filter((each) => each.at === 'server' && each.headers['x-api-key'] === 'sesame').length).toBeGreaterThan(3);
  });
});
