import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSocket } from 'node:net';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { until } from '../support/gateway.ts';
import { egressing } from '../support/egressing.ts';
import { real, standing, stateOf } from '../support/mcp.ts';

async function freePort(): Promise<number> {
  const server = createSocket().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** The real server that has everything, over HTTP. */
async function everything(way: 'streamableHttp' | 'sse', port: number) {
  const { command, args } = real('everything', way);
  const child: ChildProcess = spawn(command, args, { env: { ...process.env, PORT: String(port) }, stdio: 'ignore' });
  const answers = (): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}/none`).then(
      () => true,
      () => false,
    );
  await until(answers, 'the server');
  return {
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

describe('a tool server over HTTP', () => {
  for (const [way, path, transport] of [
    ['streamableHttp', '/mcp', {}],
    ['sse', '/sse', { transport: 'sse' }],
  ] as const) {
    verifies('mcp/transports', `(${way}) its tools are in the pool and answer; gone, it is connected again when it is back`, async () => {
      const port = await freePort();
      await using at = await egressing();
      {
        await using _ = await everything(way, port);
        await at.client.call('config.set', {
          key: 'tools.mcpServers.far',
          value: { url: `http://127.0.0.1:${port}${path}`, ...transport },
        });
        const { tools } = await standing(at.client, 'far', 'ready');
        expect(tools).toBeGreaterThan(5);
        await at.client.call('config.patch', { patch: { tools: { policies: { 'mcp:*': 'auto' } } } });
        // The guide uses tools for persons.
        await at.client.call('chat.send', { message: '/tool mcp__far__echo {"message": "hello"}' });
        await until(() => JSON.stringify(at.events).includes('Echo: hello'));
        expect((await at.client.call('mcp.resources', { name: 'far' })).count).toBeGreaterThan(0);
      }
      await at.client.call('chat.send', { message: '/tool mcp__far__echo {"message": "again"}' });
      await until(async () => (await stateOf(at.client, 'far'))?.state !== 'ready');
      await using _ = await everything(way, port);
      await standing(at.client, 'far', 'ready');
    });
  }

  verifies('mcp/transports', 'gets its headers, and is not followed to another address', async () => {
    const seen: { url: string | undefined; token: string | undefined }[] = [];
    const other = createServer((_, response) => {
      seen.push({ url: 'elsewhere', token: undefined });
      response.end();
    }).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const elsewhere = `http://127.0.0.1:${(other.address() as AddressInfo).port}/mcp`;
    const server = createServer(({ url, headers }, response) => {
      seen.push({ url, token: headers.authorization });
      if (url === '/mcp') return void response.writeHead(307, { location: elsewhere }).end();
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`event: endpoint\ndata: ${elsewhere}\n\n`);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    await using at = await egressing();
    // The gateway may ask there, but not for this server.
    await at.client.call('config.set', { key: 'providers.other', value: { baseUrl: elsewhere } });
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const headers = { Authorization: 'Bearer sesame' };
    await at.client.call('config.set', { key: 'tools.mcpServers.far', value: { url: `${base}/mcp`, headers } });
    expect((await standing(at.client, 'far', 'failed')).error).toMatch(/^The tool server far failed: /);
    expect(seen).toEqual([{ url: '/mcp', token: 'Bearer sesame' }]);
    await at.client.call('config.set', { key: 'tools.mcpServers.far', value: { url: `${base}/sse`, headers, transport: 'sse' } });
    expect((await standing(at.client, 'far', 'failed')).error).toMatch(/^The tool server far failed: /);
    expect(seen.filter(({ url }) => url === 'elsewhere')).toEqual([]);
    expect(seen.at(-1)).toEqual({ url: '/sse', token: 'Bearer sesame' });
    for (const each of [server, other]) {
      each.closeAllConnections();
      each.close();
    }
  });
});
