import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { createEgressGateway } from '../../../../tests/support/egress-gateway.ts';
import { createMcpGateway, waitForServerState, startMcpServer } from '../../../../tests/support/mcp-fixtures.ts';
import { waitFor } from '../../../../tests/support/test-gateway.ts';

// The line 1.x of the protocol's SDK, which most programs run.

const SERVER_PATH = join(import.meta.dirname, '../../../../tests/support/mcp-sdk-1-server.ts');

/** Runs the server over HTTP; its address. */
async function startServer(transportName: 'streamableHttp' | 'sse') {
  const child = spawn(process.execPath, [SERVER_PATH, transportName], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [address] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    url: String(address).trim(),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

describe('a client of the SDK 1.x at /mcp', () => {
  verifies('mcp-server/sdk-1', 'connects, lists and calls tools, reads resources by list and template, and gets prompts', async () => {
    await using at = await createEgressGateway();
    await at.client.call('workspace.write', { workspace: 'main', path: 'notes/tea.md', content: 'Earl Grey' });
    await at.client.call('workspace.write', {
      workspace: 'main',
      path: 'prompts/sum-up.md',
      content: '---\ntitle: Sum up\n---\nSum up {{text}} of {{date}}',
    });
    const client = new Client({ name: 'earlier', version: '1' });
    const requestInit = { headers: { authorization: `Bearer ${at.bridge.token}` } };
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', at.bridge.url), { requestInit });
    await client.connect(transport as Parameters<typeof client.connect>[0]);
    expect(client.getServerVersion()).toMatchObject({ name: 'perch' });
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('file_read');
    const read = await client.callTool({ name: 'file_read', arguments: { path: 'notes/tea.md' } });
    expect(JSON.stringify(read.content)).toContain('Earl Grey');
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'perch://workspace/{+path}',
      'perch://wiki/main/{+page}',
      'perch://chats/main/{session}',
    ]);
    expect((await client.readResource({ uri: 'perch://workspace/notes/tea.md' })).contents).toMatchObject([{ text: 'Earl Grey' }]);
    const ref = { type: 'ref/resource' as const, uri: 'perch://workspace/{+path}' };
    expect((await client.complete({ ref, argument: { name: 'path', value: 'NOTES/' } })).completion.values).toEqual(['notes/tea.md']);
    const { prompts } = await client.listPrompts();
    expect(prompts).toContainEqual({ name: 'sum-up', title: 'Sum up', arguments: [{ name: 'text', required: true }] });
    const { messages } = await client.getPrompt({ name: 'sum-up', arguments: { text: 'a book' } });
    expect(messages).toMatchObject([
      { role: 'user', content: { text: expect.stringMatching(/^Sum up a book of \w+ \d+, \d{4}$/) as string } },
    ]);
    await client.close();
  });

  verifies('mcp-server/sdk-1', 'the older transport of two addresses is refused at once, so that clients fall back', async () => {
    await using at = await createEgressGateway();
    const headers = { authorization: `Bearer ${at.bridge.token}` };
    const transport = new SSEClientTransport(new URL('/mcp', at.bridge.url), { requestInit: { headers } });
    await expect(new Client({ name: 'oldest', version: '1' }).connect(transport)).rejects.toThrow(/405/);
  });
});

describe('a server of the SDK 1.x behind Perch', () => {
  verifies('mcp/sdk-1', 'stdio: tools, a changed list, a question to the person, prompts and resources', async () => {
    await using at = await createMcpGateway();
    expect(await startMcpServer(at.client, 'earlier', { command: process.execPath, args: [SERVER_PATH, 'stdio'] })).toMatchObject({
      tools: 3,
    });
    expect(JSON.stringify(await at.callTool('mcp__earlier__add', { a: 2, b: 3 }))).toContain('sum 5');
    await at.callTool('mcp__earlier__grow');
    await waitFor(async () => (await waitForServerState(at.client, 'earlier', 'ready')).tools === 4, 'the new tool');
    expect(JSON.stringify(await at.callTool('mcp__earlier__grown'))).toContain('grown up');
    const toolCall = at.callTool('mcp__earlier__ask');
    await waitFor(async () => (await at.client.call('mcp.list', {})).asks.length === 1, 'the question');
    const [serverRequest] = (await at.client.call('mcp.list', {})).asks;
    await at.client.call('mcp.answer', { id: serverRequest?.id ?? '', action: 'accept', content: { name: 'Ana' } });
    expect(JSON.stringify(await toolCall)).toContain('accept Ana');
    const { prompts } = await at.client.call('mcp.prompts', { name: 'earlier' });
    expect(prompts).toMatchObject([{ name: 'greet', arguments: [{ name: 'who', required: true }] }]);
    const { resources } = await at.client.call('mcp.resources', { name: 'earlier' });
    expect(resources.map(({ uri }) => uri)).toEqual(['earlier://one', 'earlier://number/{n}']);
  });

  for (const [mode, path, settings] of [
    ['streamableHttp', '/mcp', {}],
    ['sse', '/sse', { transport: 'sse' }],
  ] as const)
    verifies('mcp/sdk-1', `${mode}: tools are called, and a changed list is read again`, async () => {
      await using server = await startServer(mode);
      await using at = await createEgressGateway();
      await at.client.call('config.patch', { patch: { tools: { policies: { 'mcp:*': 'auto' }, afterReading: { 'mcp:*': ['*'] } } } });
      await at.client.call('config.set', { key: 'tools.mcpServers.earlier', value: { url: `${server.url}${path}`, ...settings } });
      expect(await waitForServerState(at.client, 'earlier', 'ready')).toMatchObject({ tools: 3 });
      await at.client.call('chat.send', { message: '/tool mcp__earlier__add {"a": 2, "b": 3}' });
      await waitFor(() => JSON.stringify(at.events).includes('sum 5'), 'the sum');
      await at.client.call('chat.send', { message: '/tool mcp__earlier__grow {}' });
      await waitFor(async () => (await waitForServerState(at.client, 'earlier', 'ready')).tools === 4, 'the new tool');
      expect((await at.client.call('mcp.resources', { name: 'earlier' })).count).toBe(2);
    });
});
