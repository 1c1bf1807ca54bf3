import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

interface OauthResponse {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
}
type OauthHandler = (request: IncomingMessage, body: string) => OauthResponse | Promise<OauthResponse>;

async function listen(answer: OauthHandler): Promise<{ server: Server; origin: string }> {
  const server = createServer((request, response) => {
    void (async () => {
      const { status = 200, headers = {}, body } = await answer(request, await text(request));
      const isText = typeof body === 'string';
      response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers });
      response.end(body === undefined ? undefined : isText ? body : JSON.stringify(body));
    })().catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** An authorization server and an MCP server that requires its tokens, at two addresses. Tests can change their behaviour. */
export async function startOauthServer() {
  const codes = new Map<string, { challenge: string; redirectUri: string; clientId: string; scope: string; resource: string | null }>();
  const access = new Map<string, string>();
  const refresh = new Map<string, string>();
  const at = {
    /** Overrides of the metadata documents. */
    metadata: {} as Record<string, unknown>,
    resource: {} as Record<string, unknown>,
    /** Overrides responses of the authorization server by path. */
    instead: new Map<string, OauthHandler>(),
    /** The scope that the tool needs. */
    toolScope: 'tools:read',
    /** Issuer in the callback; undefined to omit it. */
    iss: undefined as string | undefined,
    registers: true,
    /** All requests as `METHOD path`, with headers. */
    seen: [] as { at: 'issuer' | 'server'; line: string; headers: IncomingMessage['headers']; body: string }[],
    expire: () => access.clear(),
    revoke: () => refresh.clear(),
    lines: (where: 'issuer' | 'server') => at.seen.filter((each) => each.at === where).map(({ line }) => line),
  };
  const grant = (scope: string): OauthResponse => {
    const [token, renewing] = [`at-${randomUUID()}`, `rt-${randomUUID()}`];
    access.set(token, scope);
    refresh.set(renewing, scope);
    return { body: { access_token: token, token_type: 'Bearer', expires_in: 3600, refresh_token: renewing, scope } };
  };
  const refused = (error: string): OauthResponse => ({ status: 400, body: { error, error_description: `no: ${error}` } });

  const handleIssuerRequest: OauthHandler = (request, body) => {
    const url = new URL(request.url ?? '', issuer.origin);
    at.seen.push({ at: 'issuer', line: `${request.method} ${url.pathname}`, headers: request.headers, body });
    const override = at.instead.get(url.pathname);
    if (override) return override(request, body);
    if (url.pathname === '/.well-known/oauth-authorization-server') {
      const tokenResponse = {
        issuer: issuer.origin,
        authorization_endpoint: `${issuer.origin}/authorize`,
        token_endpoint: `${issuer.origin}/token`,
      };
      const extraMetadata = {
        registration_endpoint: `${issuer.origin}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
      };
      return { body: { ...tokenResponse, ...extraMetadata, token_endpoint_auth_methods_supported: ['none'], ...at.metadata } };
    }
    if (url.pathname === '/register' && at.registers)
      return { status: 201, body: { ...(JSON.parse(body) as object), client_id: 'client-1' } };
    if (url.pathname === '/authorize') {
      const getParam = (name: string): string => url.searchParams.get(name) ?? '';
      const code = randomUUID();
      codes.set(code, {
        ...{
          challenge: getParam('code_challenge'),
          redirectUri: getParam('redirect_uri'),
          clientId: getParam('client_id'),
          scope: getParam('scope'),
        },
        resource: url.searchParams.get('resource'),
      });
      const back = new URL(getParam('redirect_uri'));
      back.search = new URLSearchParams({ code, state: getParam('state'), ...(at.iss === undefined ? {} : { iss: at.iss }) }).toString();
      return { status: 302, headers: { location: back.href } };
    }
    if (url.pathname === '/token') {
      const form = new URLSearchParams(body);
      if (form.get('grant_type') === 'refresh_token') {
        const scope = refresh.get(form.get('refresh_token') ?? '');
        refresh.delete(form.get('refresh_token') ?? '');
        return scope === undefined ? refused('invalid_grant') : grant(scope);
      }
      const code = codes.get(form.get('code') ?? '');
      codes.delete(form.get('code') ?? '');
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      const good =
        code && code.challenge === challenge && code.redirectUri === form.get('redirect_uri') && code.resource === form.get('resource');
      return good ? grant(code.scope) : refused('invalid_grant');
    }
    return { status: 404, body: 'nothing here' };
  };

  const handleServerRequest: OauthHandler = (request, body) => {
    at.seen.push({ at: 'server', line: `${request.method} ${request.url}`, headers: request.headers, body });
    const metadata = `${server.origin}/.well-known/oauth-protected-resource/mcp`;
    if (request.url?.startsWith('/.well-known/')) {
      if (!request.url.includes('protected-resource')) return { status: 404, body: 'nothing here' };
      return { body: { resource: `${server.origin}/mcp`, authorization_servers: [issuer.origin], ...at.resource } };
    }
    const scope = access.get(/^Bearer (.*)$/.exec(request.headers.authorization ?? '')?.[1] ?? '');
    const challenge = (status: number, params: string): OauthResponse => ({
      status,
      headers: { 'www-authenticate': `Bearer resource_metadata="${metadata}", ${params}` },
      body: 'not you',
    });
    if (scope === undefined) return challenge(401, 'scope="tools:read"');
    if (request.method !== 'POST') return { status: 405 };
    const { id, method } = JSON.parse(body) as { id?: number; method: string };
    if (id === undefined) return { status: 202 };
    const result = (value: unknown): OauthResponse => ({ body: { jsonrpc: '2.0', id, result: value } });
    if (method === 'initialize')
      return result({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'guarded', version: '1' } });
    if (method === 'tools/list') return result({ tools: [{ name: 'look', inputSchema: { type: 'object' } }] });
    if (!scope.split(' ').includes(at.toolScope)) return challenge(403, `error="insufficient_scope", scope="${at.toolScope}"`);
    return result({ content: [{ type: 'text', text: `seen with ${scope}` }] });
  };
  const issuer = await listen(handleIssuerRequest);
  const server = await listen(handleServerRequest);
  return Object.assign(at, {
    issuer: issuer.origin,
    origin: server.origin,
    url: `${server.origin}/mcp`,
    async [Symbol.asyncDispose]() {
      for (const each of [issuer.server, server.server]) {
        each.closeAllConnections();
        each.close();
        await once(each, 'close');
      }
    },
  });
}
export type OauthServer = Awaited<ReturnType<typeof startOauthServer>>;
