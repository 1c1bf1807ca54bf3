import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSocket } from 'node:net';
import { describe, expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { waitFor } from '../../../../tests/support/test-gateway.ts';
import { createEgressGateway } from '../../../../tests/support/egress-gateway.ts';
import { toRealServerCommand, waitForServerState, getServerState } from '../../../../tests/support/mcp-fixtures.ts';

async function freePort(): Promise<number> {
  const server = createSocket().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** The real server that has everything, over HTTP. */
async function startEverythingServer(transportName: 'streamableHttp' | 'sse', port: number) {
  const { command, args } = toRealServerCommand('everything', transportName);
  const child: ChildProcess = spawn(command, args, { env: { ...process.env, PORT: String(port) }, stdio: 'ignore' });
  const answers = (): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}/none`).then(
      () => true,
      () => false,
    );
  await waitFor(answers, 'the server');
  return {
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

describe('a tool server over HTTP', () => {
  for (const [mode, path, transport] of [
    ['streamableHttp', '/mcp', {}],
    ['sse', '/sse', { transport: 'sse' }],
  ] as const) {
    verifies('mcp/transports', `(${mode}) its tools are in the pool and answer; gone, it is connected again when it is back`, async () => {
      const port = await freePort();
      await using at = await createEgressGateway();
      {
        await using _ = await startEverythingServer(mode, port);
        await at.client.call('config.set', {
          key: 'tools.mcpServers.far',
          value: { url: `http://127.0.0.1:${port}${path}`, ...transport },
        });
        const { tools } = await waitForServerState(at.client, 'far', 'ready');
        expect(tools).toBeGreaterThan(5);
        await at.client.call('config.patch', { patch: { tools: { policies: { 'mcp:*': 'auto' }, afterReading: { 'mcp:*': ['mcp:*'] } } } });
        // The guide uses tools for persons.
        await at.client.call('chat.send', { message: '/tool mcp__far__echo {"message": "hello"}' });
        await waitFor(() => JSON.stringify(at.events).includes('Echo: hello'));
        expect((await at.client.call('mcp.resources', { name: 'far' })).count).toBeGreaterThan(0);
      }
      await at.client.call('chat.send', { message: '/tool mcp__far__echo {"message": "again"}' });
      await waitFor(async () => (await getServerState(at.client, 'far'))?.state !== 'ready');
      await using _ = await startEverythingServer(mode, port);
      await waitForServerState(at.client, 'far', 'ready');
    });
  }

  verifies('mcp/transports', 'gets its headers, and is not followed to another address', async () => {
    const upstreamRequests: { url: string | undefined; token: string | undefined }[] = [];
    const other = createServer((_, response) => {
      upstreamRequests.push({ url: 'elsewhere', token: undefined });
      response.end();
    }).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const elsewhere = `http://127.0.0.1:${(other.address() as AddressInfo).port}/mcp`;
    const server = createServer(({ url, headers }, response) => {
      upstreamRequests.push({ url, token: headers.authorization });
      if (url === '/mcp') return void response.writeHead(307, { location: elsewhere }).end();
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`event: endpoint\ndata: ${elsewhere}\n\n`);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    await using at = await createEgressGateway();
    // The gateway may ask there, but not for this server.
    await at.client.call('config.set', { key: 'providers.other', value: { baseUrl: elsewhere } });
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const headers = { Authorization: 'Bearer sesame' };
    await at.client.call('config.set', { key: 'tools.mcpServers.far', value: { url: `${base}/mcp`, headers } });
    expect((await waitForServerState(at.client, 'far', 'failed')).error).toMatch(/^MCP server far failed: /);
    expect(upstreamRequests).toEqual([{ url: '/mcp', token: 'Bearer sesame' }]);
    await at.client.call('config.set', { key: 'tools.mcpServers.far', value: { url: `${base}/sse`, headers, transport: 'sse' } });
    expect((await waitForServerState(at.client, 'far', 'failed')).error).toMatch(/^MCP server far failed: /);
    expect(upstreamRequests.filter(({ url }) => url === 'elsewhere')).toEqual([]);
    expect(upstreamRequests.at(-1)).toEqual({ url: '/sse', token: 'Bearer sesame' });
    for (const each of [server, other]) {
      each.closeAllConnections();
      each.close();
    }
  });

  verifies('mcp/errors', 'a missing or failing server is reported with what to do', async () => {
    const answers: Record<string, [number, string]> = {
      '/broken': [500, '{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"the database is locked"}}'],
      '/closed': [403, '{"error":"no key"}'],
      '/none': [404, '<!doctype html><title>Lost</title>'],
      '/busy': [429, ''],
      '/odd': [422, 'not\nthis'],
    };
    const server = createServer(({ url = '' }, response) => {
      const [status, body] = answers[url] ?? [200, ''];
      response.writeHead(status).end(body);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    await using at = await createEgressGateway();
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const nobody = `127.0.0.1:${await freePort()}`;
    const getError = async (url: string, more: object = {}): Promise<string | undefined> => {
      await at.client.call('config.set', { key: 'tools.mcpServers.far', value: { url, headers: { Authorization: 'Bearer x' }, ...more } });
      await waitFor(async () => {
        const far = await getServerState(at.client, 'far');
        return far?.url === url && far.state === 'failed';
      });
      const { error } = await waitForServerState(at.client, 'far', 'failed');
      await at.client.call('config.patch', { patch: { tools: { mcpServers: { far: null } } } });
      await waitFor(async () => (await getServerState(at.client, 'far')) === undefined);
      return error?.replace('MCP server far ', '');
    };
    const refusedHint = 'connection refused (ECONNREFUSED). Check the address and that the server is running.';
    for (const more of [{}, { transport: 'sse' }])
      expect(await getError(`http://${nobody}/mcp`, more)).toBe(`failed: Couldn’t reach ${nobody}: ${refusedHint}`);
    expect(await getError(`${base}/broken`)).toBe('failed (HTTP 500: the database is locked). Check its logs.');
    expect(await getError(`${base}/broken`, { transport: 'sse' })).toBe('failed (HTTP 500). Check its logs.');
    expect(await getError(`${base}/closed`)).toBe('denied access (HTTP 403: no key). Check `tools.mcpServers.far.headers`.');
    expect(await getError(`${base}/none`)).toMatch(/^was not found at its URL \(HTTP 404: .*"Lost".*\)\. Check the path\.$/);
    expect(await getError(`${base}/busy`)).toBe('is limiting requests (HTTP 429). Try again later.');
    expect(await getError(`${base}/odd`)).toBe('rejected the request (HTTP 422: not this).');
    server.closeAllConnections();
    server.close();
  });
});
