import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect } from 'vitest';
import { startTestBridge, type TestBridge } from '../../../../../bridge/server/tests/test-bridge.ts';
import { verifies } from '../../../../../tests/requirements.ts';
import { type BridgedGateway, createBridgedGateway } from '../../../../../tests/support/bridged-gateway.ts';
import { waitFor } from '../../../../../tests/support/test-gateway.ts';

/** A picture of one point. */
const ONE_PIXEL_PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

// With the protocol's own client, over a real bridge, with real sockets.

const CONFORMANCE_PATH = join(import.meta.dirname, '../../../../../node_modules/@modelcontextprotocol/conformance/dist/index.js');

let bridge: TestBridge;
let gw: BridgedGateway;
beforeAll(async () => {
  bridge = await startTestBridge();
  gw = await createBridgedGateway();
  await gw.attach(bridge);
  const { client } = await gw.client();
  await client.call('workspace.write', { workspace: 'main', path: 'notes/tea & milk.md', content: 'Earl Grey' });
  await client.call('workspace.write', { workspace: 'main', path: 'dot.png', content: ONE_PIXEL_PNG, encoding: 'base64' });
  await client.call('config.patch', {
    patch: { tools: { policies: { memory_add: 'ask' } }, agents: { reader: { tools: { allow: ['file_*'] } } } },
  });
  client.close();
});
afterAll(async () => {
  await bridge?.[Symbol.asyncDispose]();
  await gw?.[Symbol.asyncDispose]();
});

async function connectMcpClient(
  path = '/mcp',
  { token = bridge.token, mode = 'legacy' as 'legacy' | 'auto' } = {},
): Promise<Client & AsyncDisposable> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(path, bridge.url), { requestInit }));
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

for (const mode of ['legacy', 'auto'] as const) {
  verifies(
    'mcp-server/serves',
    `a client of the ${mode === 'auto' ? 'newest revision' : 'earlier revisions'} lists and calls tools`,
    async () => {
      await using client = await connectMcpClient('/mcp', { mode });
      expect(client.getServerVersion()).toMatchObject({ name: 'perch' });
      const { tools } = await client.listTools();
      expect(tools.find(({ name }) => name === 'file_read')).toMatchObject({
        title: 'Read file',
        inputSchema: { type: 'object', required: ['path'] },
        annotations: { readOnlyHint: true },
      });
      const { content, isError } = await client.callTool({ name: 'file_read', arguments: { path: 'notes/tea & milk.md' } });
      expect([JSON.stringify(content), isError ?? false]).toEqual([expect.stringContaining('Earl Grey'), false]);
      expect(await client.callTool({ name: 'file_read', arguments: { path: 5 } })).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('path') as string }],
      });
      await expect(client.callTool({ name: 'no_such_tool', arguments: {} })).rejects.toThrow(/Unknown tool "no_such_tool"/);
    },
  );
}

verifies('mcp-server/serves', 'a named agent serves its own tools; an unknown one is 404', async () => {
  await using client = await connectMcpClient('/mcp/reader');
  const { tools } = await client.listTools();
  expect(tools.length).toBeGreaterThan(0);
  expect(tools.every(({ name }) => name.startsWith('file_'))).toBe(true);
  await expect(client.callTool({ name: 'memory_add', arguments: { text: 'x' } })).rejects.toThrow(/Unknown tool "memory_add"/);
  await expect(connectMcpClient('/mcp/nobody')).rejects.toThrow();
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const refused = await bridge.http('/mcp/nobody', { method: 'POST', headers, body: '{}' });
  expect(refused.status).toBe(404);
  expect(await refused.json()).toMatchObject({
    error: { type: 'not_found', message: expect.stringContaining('agent "nobody"') as string },
  });
});

verifies('mcp-server/resources', 'files are listed and read, text and bytes, and names with odd characters', async () => {
  await using client = await connectMcpClient();
  const { resources } = await client.listResources();
  expect(resources.map(({ name }) => name).sort()).toEqual(['dot.png', 'notes/tea & milk.md']);
  const read = async (name: string) => client.readResource({ uri: resources.find((each) => each.name === name)?.uri ?? '' });
  expect((await read('notes/tea & milk.md')).contents).toMatchObject([{ text: 'Earl Grey' }]);
  expect((await read('dot.png')).contents).toMatchObject([{ blob: ONE_PIXEL_PNG, mimeType: 'image/png' }]);
  for (const uri of ['perch://workspace/none.md', 'perch://workspace/%E0%A4%A', 'file:///etc/passwd'])
    await expect(client.readResource({ uri })).rejects.toThrow(/No resource/);
});

verifies('mcp-server/wiki', 'pages of the wiki are resources, each agent’s own, with their claims, and its tools are there', async () => {
  const { client: person } = await gw.client();
  await person.call('config.patch', { patch: { agents: { writer: {} } } });
  await person.call('wiki.savePage', { agentId: 'writer', path: 'entities/Miso & Ana', content: 'A cat.' });
  await person.call('wiki.addClaim', { agentId: 'writer', path: 'entities/Miso & Ana', text: 'Miso is a cat.' });
  person.close();
  await using client = await connectMcpClient('/mcp/writer');
  const uri = 'perch://wiki/writer/entities/Miso%20%26%20Ana.md';
  const { resources } = await client.listResources();
  expect(resources.find((each) => each.uri === uri)).toMatchObject({ title: 'Miso & Ana', mimeType: 'text/markdown' });
  const { contents } = await client.readResource({ uri });
  expect(contents).toMatchObject([{ text: expect.stringMatching(/^A cat\.[^]*Miso is a cat\./) as string }]);
  for (const other of [
    'perch://wiki/main/entities/Miso%20%26%20Ana.md',
    'perch://wiki/writer/..%2Fout',
    'perch://wiki/writer/none',
    'perch://wiki/writer/',
  ])
    await expect(client.readResource({ uri: other }), other).rejects.toThrow(/No resource/);
  const { tools } = await client.listTools();
  for (const name of ['wiki_search', 'wiki_read', 'wiki_contradictions', 'memory_search'])
    expect(tools.find((tool) => tool.name === name)?.annotations, name).toEqual({ readOnlyHint: true });
  const found = await client.callTool({ name: 'wiki_search', arguments: { query: 'cat' } });
  expect(JSON.stringify(found.content)).toContain('Miso is a cat.');
});

verifies(
  'mcp-server/approvals',
  'a call that a person must approve waits, runs when that was done, and is withdrawn when its caller leaves',
  async () => {
    await using client = await connectMcpClient();
    const { client: person } = await gw.client();
    const waiting = async () => (await person.call('approvals.list', {})).approvals;
    const call = client.callTool({ name: 'memory_add', arguments: { text: 'Tea' } });
    await waitFor(async () => (await waiting()).length === 1, 'a question');
    await person.call('approvals.resolve', { id: (await waiting())[0]?.id ?? '', decision: 'approve' });
    expect((await call).isError ?? false).toBe(false);

    const denied = client.callTool({ name: 'memory_add', arguments: { text: 'Milk' } });
    await waitFor(async () => (await waiting()).length === 1, 'a question');
    await person.call('approvals.resolve', { id: (await waiting())[0]?.id ?? '', decision: 'deny' });
    expect(await denied).toMatchObject({ isError: true });

    await using modern = await connectMcpClient('/mcp', { mode: 'auto' });
    const leaving = new AbortController();
    const abortedCall = modern.callTool({ name: 'memory_add', arguments: { text: 'Sugar' } }, { signal: leaving.signal });
    await waitFor(async () => (await waiting()).length === 1, 'a question');
    leaving.abort();
    await expect(abortedCall).rejects.toThrow();
    await waitFor(async () => (await waiting()).length === 0, 'the question to be withdrawn');

    // Without a session nothing tells which call an earlier client takes back: it hangs up.
    const pendingCall = client.callTool({ name: 'memory_add', arguments: { text: 'Honey' } });
    pendingCall.catch(() => {});
    await waitFor(async () => (await waiting()).length === 1, 'a question');
    await client.close();
    await waitFor(async () => (await waiting()).length === 0, 'the question to be withdrawn, its client being gone');
    person.close();
  },
);

verifies('mcp-server/conformance', 'the official suite’s checks of every server pass', async () => {
  // The suite brings no token.
  const door = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, host: new URL(bridge.url).host, authorization: `Bearer ${bridge.token}` };
    const onward = request(`${bridge.url}${incoming.url}`, { method: incoming.method ?? 'GET', headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    outgoing.on('close', () => onward.destroy());
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  }).listen(0, '127.0.0.1');
  await once(door, 'listening');
  try {
    const url = `http://127.0.0.1:${(door.address() as AddressInfo).port}/mcp`;
    for (const scenario of ['server-initialize', 'ping', 'tools-list', 'resources-list', 'prompts-list']) {
      const { stdout } = await promisify(execFile)(process.execPath, [CONFORMANCE_PATH, 'server', '--url', url, '--scenario', scenario]);
      expect(stdout, scenario).toMatch(/Passed: (\d+)\/\1, 0 failed/);
    }
  } finally {
    door.closeAllConnections();
    door.close();
  }
});

verifies('mcp-server/callers', 'nobody without a credential, and a key with its limits', async () => {
  const asks = (token: string | null) =>
    bridge.http('/mcp', {
      method: 'POST',
      token,
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
  expect((await asks(null)).status).toBe(401);
  expect((await asks('wrong')).status).toBe(401);
  const { client } = await gw.client();
  const { secret } = await client.call('keys.create', { name: 'Reader', scopes: ['read'] });
  const { secret: writer } = await client.call('keys.create', { name: 'Writer', scopes: ['mcp'], limits: { requestsPerMinute: 1 } });
  client.close();
  await waitFor(async () => (await asks(secret)).status === 403, 'the bridge to know the key');
  await waitFor(async () => (await asks(writer)).status === 429, 'the limit');
});
