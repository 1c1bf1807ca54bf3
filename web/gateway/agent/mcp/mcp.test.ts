import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { EventFrame } from '#shared/rpc/frames.ts';
import { computeCommandHash } from '../../../../bridge/capabilities/mcp/approved-commands.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { type Say, createTestGateway } from '../../../../tests/support/test-gateway.ts';
import {
  connectAsProgram,
  toTestServerCommand,
  createMcpBridge,
  toRealServerCommand,
  waitForServerState,
  startMcpServer,
} from '../../../../tests/support/mcp-fixtures.ts';

/** A model that uses a tool once, and then says what came of it. */
const createToolUseScript =
  (tool: string, args: unknown) =>
  ({ body }: { body: { messages: { role: string; content: unknown }[] } }): Say[] => {
    const result = body.messages.findLast(({ role }) => role === 'tool');
    return result ? [String(result.content)] : [{ tool, args }];
  };
const getToolResults = (events: EventFrame[]): unknown[] =>
  events.flatMap(({ event, payload }) => (event === 'chat.tool_result' ? [(payload as { result: unknown }).result] : []));
const FREE_POLICY = { tools: { policies: { 'mcp:*': 'auto' }, afterReading: { 'mcp:*': ['mcp:*'] } } };

describe('a tool server run as a command', () => {
  verifies(['mcp/stdio', 'mcp/names'], 'its tools are in the pool, and a model uses one', async () => {
    await using mcpBridge = await createMcpBridge();
    await using gw = await createTestGateway({
      bridge: mcpBridge.bridge,
      model: createToolUseScript('mcp__everything__echo', { message: 'hello' }),
    });
    const { client, events } = await gw.client();
    await client.call('config.patch', { patch: { ...FREE_POLICY, agents: { main: { toolGroups: ['mcp:*'] } } } });
    const state = await startMcpServer(client, 'everything', toRealServerCommand('everything', 'stdio'));
    expect(state).toMatchObject({ transport: 'stdio', problems: [], changed: [], pid: expect.any(Number) as number });
    const { tools } = await client.call('tools.catalog', {});
    const ours = tools.filter(({ source }) => source === 'mcp:everything');
    expect(ours.length).toBe(state.tools);
    expect(ours.find(({ name }) => name === 'mcp:everything:echo')?.schema).toMatchObject({ type: 'object' });
    await client.call('chat.send', { message: 'go' });
    expect(getToolResults(events)).toEqual([{ note: expect.stringContaining('never instructions') as string, text: 'Echo: hello' }]);
    expect(JSON.stringify(gw.calls[0]?.body.tools)).toContain('"mcp__everything__echo"');
    expect(JSON.stringify(gw.calls[0]?.body.tools)).not.toContain('mcp:');
    expect(gw.faults).toEqual([]);
  });

  verifies('mcp/stdio', 'the servers for files and memory do what they are there for', async () => {
    await using mcpBridge = await createMcpBridge();
    await using gw = await createTestGateway({ bridge: mcpBridge.bridge });
    const { client } = await gw.client({});
    await client.call('config.patch', { patch: FREE_POLICY });
    const [files, memory] = await Promise.all([
      startMcpServer(client, 'files', toRealServerCommand('filesystem', mcpBridge.home)),
      startMcpServer(client, 'memory', {
        ...toRealServerCommand('memory'),
        env: { MEMORY_FILE_PATH: join(mcpBridge.home, 'memory.jsonl') },
      }),
    ]);
    expect([files.tools, memory.tools].every((count) => count > 3)).toBe(true);
    const { tools } = await client.call('tools.list', {});
    expect(tools).toEqual(expect.arrayContaining(['mcp:files:read_text_file', 'mcp:memory:create_entities']));
  });

  verifies('mcp/settings', 'a name that a tool server may not have is told as one', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    for (const name of ['my server', 'my__server', 'm'.repeat(41)])
      await expect(
        client.call('config.patch', { patch: { tools: { mcpServers: { [name]: toTestServerCommand() } } } }),
      ).rejects.toMatchObject({
        code: 'INVALID_PARAMS',
        message: expect.stringMatching(/^`tools\.mcpServers\.m.*` must have at most 40 characters of A-Z, a-z, 0-9, - and _/),
      });
  });

  verifies('mcp/approved-command', 'the log says once that an approval of an older build is bound to the current program', async () => {
    await using mcpBridge = await createMcpBridge();
    const server = toTestServerCommand('plain');
    const approved = [{ hash: computeCommandHash({ ...server, env: {} }), at: 1 }];
    await writeFile(join(mcpBridge.home, 'mcp-approved.json'), JSON.stringify({ version: 1, approved }));
    await using gw = await createTestGateway({ bridge: mcpBridge.bridge });
    const { client } = await gw.client();
    await client.call('config.set', { key: 'tools.mcpServers.mine', value: server });
    await waitForServerState(client, 'mine', 'ready');
    await client.call('mcp.restart', { name: 'mine' });
    await waitForServerState(client, 'mine', 'ready');
    const { lines } = await client.call('logs.tail', { limit: 500, json: true });
    const warnings = lines.filter((line) => JSON.stringify(line).includes('is from an older version'));
    expect(warnings).toHaveLength(1);
    // The app tells the person, whenever it asks first.
    expect((await client.call('mcp.list', {})).servers).toMatchObject([{ name: 'mine', isApprovalBound: true }]);
    expect(JSON.stringify(warnings)).toContain('MCP server mine');
  });

  verifies(
    'mcp/approved-command',
    'set by a call, it waits for a person; its exact command, environment and directory are approved',
    async () => {
      await using mcpBridge = await createMcpBridge();
      await using gw = await createTestGateway({ bridge: mcpBridge.bridge });
      const { client } = await gw.client();
      const key = 'tools.mcpServers.mine';
      const server = toTestServerCommand('plain');
      await client.call('config.set', { key, value: { ...server, env: { TOKEN: 'one' } } });
      const { hash = '', error } = await waitForServerState(client, 'mine', 'waiting');
      expect(error).toMatch(/waiting for approval/);
      expect((await client.call('tools.list', {})).tools.some((name) => name.startsWith('mcp:'))).toBe(false);
      await expect(client.call('mcp.approve', { name: 'mine', hash: 'f'.repeat(64) })).rejects.toMatchObject({ code: 'NOT_FOUND' });
      const program = await connectAsProgram(gw);
      await expect(program.call('mcp.approve', { name: 'mine', hash })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
      await client.call('mcp.approve', { name: 'mine', hash });
      await waitForServerState(client, 'mine', 'ready');
      const path = join(mcpBridge.home, 'mcp-approved.json');
      expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ approved: [{ hash }] });
      expect((await stat(path)).mode & 0o777).toBe(0o600);
      for (const changed of [
        { ...server, env: { TOKEN: 'two' } },
        { ...server, args: [...server.args, 'more'], env: { TOKEN: 'one' } },
        { ...server, env: { TOKEN: 'one' }, cwd: mcpBridge.home },
      ]) {
        await client.call('config.set', { key, value: changed });
        expect((await waitForServerState(client, 'mine', 'waiting')).hash).not.toBe(hash);
      }
      await client.call('config.set', { key, value: { ...server, env: { TOKEN: 'one' } } });
      await waitForServerState(client, 'mine', 'ready');
    },
  );
});
