import { describe, expect } from 'vitest';
import { contracts } from '#shared/rpc/methods/index.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { createTestGateway, waitFor } from '../../../../tests/support/test-gateway.ts';
import { toTestServerCommand, toRealServerCommand, createMcpGateway, startMcpServer } from '../../../../tests/support/mcp-fixtures.ts';

describe('tools by hand', () => {
  verifies('tools/policy', 'a tool with effects needs approval unless its policy allows it', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const about = async (name: string) => {
      const { tools } = contracts['tools.catalog'].result.parse(await client.call('tools.catalog', {}));
      return tools.find((tool) => tool.name === name);
    };
    expect(await about('current_time')).toMatchObject({ effect: false, policy: 'auto' });
    expect(await about('exec')).toMatchObject({ effect: true, policy: 'ask' });
    await client.call('config.patch', { patch: { tools: { policies: { 'current_*': 'deny', exec: 'auto' } } } });
    expect(await about('current_time')).toMatchObject({ effect: false, policy: 'deny' });
    expect(await about('exec')).toMatchObject({ effect: true, policy: 'auto' });
  });

  verifies('tools/run', 'what it answers, or why not; an agent’s limits hold', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const ran = contracts['tools.run'].result.parse(await client.call('tools.run', { tool: 'docs_search', args: { query: 'offline' } }));
    expect(JSON.stringify(ran.result)).toMatch(/offline/i);
    expect(ran).toMatchObject({ files: [], pictures: [], durationMs: expect.any(Number) as number });
    await expect(client.call('tools.run', { tool: 'docs_search', args: { query: 7 } })).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
      message: expect.stringContaining('`query` must be a string') as string,
    });
    await expect(client.call('tools.run', { tool: 'constructor' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await client.call('agents.add', { agent_id: 'small', config: { tools: { deny: ['docs_*'] } } });
    const denied = client.call('tools.run', { tool: 'docs_search', args: { query: 'offline' }, agentId: 'small' });
    await expect(denied).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await client.call('config.patch', { patch: { tools: { policies: { docs_search: 'deny' } } } });
    await expect(client.call('tools.run', { tool: 'docs_search', args: { query: 'offline' } })).rejects.toMatchObject({
      code: 'AUTH_REQUIRED',
    });
  });

  verifies('tools/run', 'a person is asked first, and may say no', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    await client.call('config.patch', { patch: { tools: { policies: { current_time: 'ask' } } } });
    const waiting = async () => (await client.call('approvals.list', {})).approvals;
    for (const decision of ['approve', 'deny'] as const) {
      const running = client.call('tools.run', { tool: 'current_time' }).then(
        ({ result }) => result,
        ({ code }: { code: string }) => code,
      );
      await waitFor(async () => (await waiting()).length === 1);
      const [approval] = await waiting();
      expect(approval).toMatchObject({ tool: 'current_time', args: {}, agentId: 'main', sessionId: null, runId: null });
      await client.call('approvals.resolve', { id: approval?.id ?? '', decision });
      expect(await running).toEqual(decision === 'deny' ? 'AUTH_REQUIRED' : expect.anything());
    }
    // Cancelled by its caller's name for it: the question is gone too.
    const call = { tool: 'current_time', callId: 'mine' };
    const cancelled = client.call('tools.run', call).catch(({ code }: { code: string }) => code);
    await waitFor(async () => (await waiting()).length === 1);
    await expect(client.call('tools.run', call)).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    expect(await client.call('tools.cancel', { callId: 'mine' })).toEqual({ cancelled: true });
    expect(await cancelled).toBe('ABORTED');
    await waitFor(async () => (await waiting()).length === 0);
    expect(await client.call('tools.cancel', { callId: 'mine' })).toEqual({ cancelled: false });
    // Nobody is left to be told: nothing may run later.
    const other = await gw.client();
    const cut = other.client.call('tools.run', { tool: 'current_time' }).catch(({ name }: Error) => name);
    await waitFor(async () => (await waiting()).length === 1);
    other.client.close();
    expect(await cut).toBe('ConnectionClosed');
    await waitFor(async () => (await waiting()).length === 0);
    const { approvals } = await client.call('approvals.list', { status: 'all' });
    expect(approvals.map(({ status }) => status)).toEqual(['cancelled', 'cancelled', 'denied', 'approved']);
  });

  verifies('tools/run', 'files come along; a tool server that cannot says why', async () => {
    await using at = await createMcpGateway();
    await startMcpServer(at.client, 'all', toRealServerCommand('everything', 'stdio'));
    await startMcpServer(at.client, 'hand', toTestServerCommand());
    const { files } = await at.client.call('tools.run', { tool: 'mcp:all:get-tiny-image' });
    expect(files).toEqual([expect.objectContaining({ mimeType: 'image/png', data: expect.stringMatching(/^iVBOR/) as string })]);
    await expect(at.client.call('tools.run', { tool: 'mcp:hand:fail' })).rejects.toThrow('mcp:hand:fail failed: It is broken');
    await expect(at.client.call('tools.run', { tool: 'mcp:hand:die' })).rejects.toThrow('MCP server hand disconnected');
  });
});
