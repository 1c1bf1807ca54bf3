import { describe, expect, it } from 'vitest';
import { TOOL_KEYWORDS } from './tool-keywords.ts';
import { benchTools as measureTools } from '../../../../tests/bench/tools-bench.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeBridge } from '../../../../tests/support/fake-bridge.ts';
import { createScript, createTestGateway, waitFor } from '../../../../tests/support/test-gateway.ts';
import { toTestServerCommand, createMcpBridge, startMcpServer } from '../../../../tests/support/mcp-fixtures.ts';
import { createFakeServer } from '../../../../tests/support/fake-provider-server.ts';
import { type ScriptedReply, createReplyHandler, WIRE_FORMATS } from '../../../../tests/support/wire-formats.ts';

const SEARCH_CALL: ScriptedReply = { id: 'call_search', name: 'tool_search', args: { query: 'count the memories' } };
const TOOL_CALL: ScriptedReply = { id: 'call_stats', name: 'tool_call', args: { name: 'memory_stats', arguments: {} } };

async function openGateway(name: string, replies: readonly ScriptedReply[], bridge = new FakeBridge()) {
  const wire = WIRE_FORMATS[name];
  if (!wire) throw new Error(`no wire ${name}`);
  const { answer, bodies } = createReplyHandler(wire, replies);
  const gw = await createTestGateway({ fetch: createFakeServer(answer).fetch, bridge });
  const { client, events } = await gw.client();
  await client.call('config.patch', { patch: { providers: { upstream: wire.settings }, chat: { model: `upstream/${wire.model}` } } });
  return { wire, gw, client, events, bodies };
}

describe.each(Object.keys(WIRE_FORMATS))('in the form of %s', (name) => {
  verifies(
    'tools/stable',
    'the tools of a chat stay the same, also when an MCP server starts and stops, and its messages are repeated',
    async () => {
      await using mcpBridge = await createMcpBridge();
      const { wire, gw, client, bodies } = await openGateway(name, [SEARCH_CALL, TOOL_CALL, 'Two', 'Hello', 'Bye'], mcpBridge.bridge);
      await using _ = gw;
      await client.call('chat.send', { message: 'How many memories are there?' });
      await startMcpServer(client, 'hand', toTestServerCommand());
      await client.call('chat.send', { message: 'Hello' });
      await client.call('config.set', { key: 'tools.mcpServers.hand.enabled', value: false });
      await client.call('chat.send', { message: 'Bye' });
      expect(bodies).toHaveLength(5);
      const offered = bodies.map((body) => JSON.stringify(wire.tools(body).filter((tool) => !tool['defer_loading'])));
      expect(new Set(offered).size).toBe(1);
      const names = wire.tools(bodies[0] ?? {}).flatMap((tool) => (tool['defer_loading'] ? [] : [wire.name(tool)]));
      expect(names).toEqual(expect.arrayContaining(['file_read', 'tool_search', 'tool_call']));
      expect(names).not.toContain('memory_stats');
      // Marks for the provider's cache move on with each request.
      const getSentText = (body: Record<string, unknown> = {}): string =>
        JSON.stringify(wire.messages(body), (key, value: unknown) => (key === 'cache_control' ? undefined : value));
      for (const [index, body] of bodies.slice(1).entries()) {
        const before = getSentText(bodies[index]);
        expect(getSentText(body).slice(0, before.length - 1)).toBe(before.slice(0, -1));
      }
      expect(JSON.stringify(bodies[4])).toContain('"tool_call"');
      expect(gw.faults).toEqual([]);
    },
  );

  verifies('tools/real-name', 'events and history name the tool that ran', async () => {
    const { gw, client, events } = await openGateway(name, [SEARCH_CALL, TOOL_CALL, 'Two']);
    await using _ = gw;
    await client.call('chat.send', { message: 'How many memories are there?' });
    const chatEvents = events.filter(({ event }) => event.startsWith('chat.'));
    expect(chatEvents.flatMap(({ event, payload }) => (event === 'chat.tool_result' ? [payload] : []))).toMatchObject([
      { tool: 'tool_search' },
      { tool: 'memory_stats', result: { memories: 0 } },
    ]);
    const { messages } = await client.call('chat.history', { sessionId: 'main' });
    expect(messages.flatMap(({ toolCalls = [] }) => toolCalls)).toEqual([
      { id: expect.any(String) as string, tool: 'tool_search', args: { query: 'count the memories' } },
      { id: expect.any(String) as string, tool: 'memory_stats', args: {} },
    ]);
    expect(messages.filter(({ role }) => role === 'tool').map((message) => message.name)).toEqual(['tool_search', 'memory_stats']);
    const { content } = await client.call('sessions.export', { path: 'main/main.jsonl', format: 'jsonl' });
    const pending = chatEvents.flatMap(({ event, payload }) =>
      event === 'chat.tool_pending' ? [(payload as { tools: string[] }).tools] : [],
    );
    expect(pending.filter((tools) => tools.length > 0)).toEqual([['tool_search'], ['memory_stats']]);
    const visibleText = JSON.stringify([chatEvents, messages, content.split('\n')]).replaceAll('\\"', '"');
    expect(visibleText).not.toContain('"tool_call"');
    expect(visibleText).not.toContain('"via"');
  });

  verifies('tools/stable', 'a fork repeats calls as the model wrote them', async () => {
    // Without `arguments`, as some models write.
    const flat: ScriptedReply = { id: 'call_flat', name: 'tool_call', args: { name: ' memory_stats ' } };
    const { wire, gw, client, bodies } = await openGateway(name, [SEARCH_CALL, TOOL_CALL, flat, 'Two', 'Again', 'Again']);
    await using _ = gw;
    await client.call('chat.send', { message: 'How many memories are there?' });
    await client.call('sessions.fork', { path: 'main/main.jsonl', sessionId: 'fork' });
    await client.call('chat.send', { message: 'And now?' });
    await client.call('chat.send', { message: 'And now?', sessionId: 'fork' });
    expect(JSON.stringify(wire.messages(bodies[5] ?? {}))).toContain('"tool_call"');
    // Each context block has its own mark.
    const read = (body: Parameters<typeof wire.messages>[0] = {}): string =>
      JSON.stringify(wire.messages(body)).replace(/context [0-9a-f]{8}/g, 'context');
    expect(read(bodies[5])).toBe(read(bodies[4]));
    const { messages } = await client.call('chat.history', { sessionId: 'fork' });
    expect(JSON.stringify(messages)).not.toContain('"via"');
  });
});

describe('Anthropic', () => {
  it('loads the tools that a search found, and goes on loading one whose server has stopped', async () => {
    await using mcpBridge = await createMcpBridge();
    const search: ScriptedReply = { id: 'call_1', name: 'tool_search', args: { query: 'say' } };
    const use: ScriptedReply = { id: 'call_2', name: 'mcp__hand__say', args: { text: 'hi' } };
    const { wire, gw, client, bodies } = await openGateway('Anthropic', [search, use, 'Said', 'Hello'], mcpBridge.bridge);
    await using _ = gw;
    await client.call('config.patch', { patch: { tools: { policies: { 'mcp:*': 'auto' } } } });
    await startMcpServer(client, 'hand', toTestServerCommand());
    await client.call('chat.send', { message: 'Say hi' });
    await client.call('config.set', { key: 'tools.mcpServers.hand.enabled', value: false });
    await client.call('chat.send', { message: 'Hello' });
    for (const body of bodies.slice(1)) {
      expect(JSON.stringify(wire.messages(body))).toContain('{"type":"tool_reference","tool_name":"mcp__hand__say"}');
      expect(wire.tools(body)).toContainEqual(expect.objectContaining({ name: 'mcp__hand__say', defer_loading: true }));
      // The last one may be a cache breakpoint.
      expect(wire.tools(body).at(-1)).toMatchObject({ name: 'tool_call' });
      expect(wire.tools(body).at(-1)).not.toHaveProperty('defer_loading');
    }
  });

  it('is asked without them, and from then on, if it refuses them', async () => {
    const wire = WIRE_FORMATS['Anthropic'];
    if (!wire) throw new Error('no wire');
    const bodies: Record<string, unknown>[] = [];
    const { fetch } = createFakeServer(({ method, body }) => {
      if (method === 'GET' || !body) return Response.json({ data: [] });
      bodies.push(body);
      if (JSON.stringify(body).includes('defer_loading'))
        return Response.json(
          { type: 'error', error: { type: 'invalid_request_error', message: 'tools.0.defer_loading: Extra inputs are not permitted' } },
          { status: 400 },
        );
      return wire.reply(bodies.length === 2 ? SEARCH_CALL : 'Done');
    });
    await using gw = await createTestGateway({ fetch });
    const { client } = await gw.client();
    await client.call('config.patch', { patch: { providers: { upstream: wire.settings }, chat: { model: `upstream/${wire.model}` } } });
    await client.call('chat.send', { message: 'Hello' });
    expect(bodies).toHaveLength(3);
    expect(wire.tools(bodies[2] ?? {}).map(wire.name)).toContain('tool_call');
    expect(JSON.stringify(bodies[2])).not.toContain('tool_reference');
    expect(JSON.stringify(wire.messages(bodies[2] ?? {}))).toContain('memory_stats');
  });
});

describe('a call by tool_call', () => {
  const call = (args: unknown): { tool: string; args: unknown } => ({ tool: 'tool_call', args });

  it('is checked before a person is asked, and a wrong one is answered with the schema', async () => {
    await using gw = await createTestGateway({
      model: ({ body }) =>
        body.messages.at(-1)?.role === 'user' ? [call({ name: 'browser_click', arguments: { element: 'Buy' } })] : ['Sorry'],
    });
    const { client, events } = await gw.client();
    await client.call('chat.send', { message: 'Click' });
    const [result] = events.flatMap(({ event, payload }) => (event === 'chat.tool_result' ? [payload as { result: unknown }] : []));
    expect(result).toMatchObject({
      tool: 'browser_click',
      isError: true,
      result: { error: expect.stringContaining('Invalid arguments for browser_click') as string, parameters: { required: ['ref'] } },
    });
    expect((await client.call('approvals.list', {})).approvals).toEqual([]);
  });

  verifies('tools/real-name', 'asks a person by the name of the tool that runs', async () => {
    await using gw = await createTestGateway({
      model: ({ body }) => (body.messages.at(-1)?.role === 'user' ? [call({ name: 'memory_stats', arguments: '{}' })] : ['Done']),
    });
    const { client, events } = await gw.client();
    await client.call('config.patch', { patch: { tools: { policies: { memory_stats: 'ask' } } } });
    const pendingSend = client.call('chat.send', { message: 'Count' });
    await waitFor(async () => (await client.call('approvals.list', {})).approvals.length > 0);
    const [approval] = (await client.call('approvals.list', {})).approvals;
    expect(approval).toMatchObject({ tool: 'memory_stats', args: {} });
    await client.call('approvals.resolve', { id: approval?.id ?? '', decision: 'approve' });
    await pendingSend;
    expect(events.find(({ event }) => event === 'chat.tool_result')?.payload).toMatchObject({
      tool: 'memory_stats',
      result: { memories: 0 },
    });
  });

  verifies('tools/real-name', 'reaches no tool that the agent must not use', async () => {
    await using gw = await createTestGateway({
      model: ({ body }, count) =>
        count === 1
          ? [call({ name: 'exec', arguments: { command: 'ls' } })]
          : count === 2
            ? [{ tool: 'tool_search', args: { query: 'run a command' } }]
            : [String(body.messages.length)],
    });
    const { client, events } = await gw.client();
    await client.call('config.patch', { patch: { agents: { main: { tools: { deny: ['exec'] } } } } });
    await client.call('chat.send', { message: 'List' });
    const results = events.flatMap(({ event, payload }) => (event === 'chat.tool_result' ? [payload as { result: unknown }] : []));
    expect(results[0]).toMatchObject({
      tool: 'exec',
      isError: true,
      result: { error: expect.stringContaining('Unknown tool "exec"') as string },
    });
    expect(JSON.stringify(results[1]?.result)).not.toContain('"exec"');
  });

  it('is the same as a direct call of a tool that was not offered', async () => {
    await using gw = await createTestGateway({ model: (_, count) => (count === 1 ? [{ tool: 'memory_stats', args: {} }] : ['Done']) });
    const { client, events } = await gw.client();
    await client.call('chat.send', { message: 'Count' });
    expect(events.find(({ event }) => event === 'chat.tool_result')?.payload).toMatchObject({
      tool: 'memory_stats',
      result: { memories: 0 },
    });
  });
});

verifies('tools/default-set', 'an agent’s groups replace the default tools', async () => {
  await using gw = await createTestGateway({ model: createScript(['Hello']) });
  const { client } = await gw.client();
  await client.call('config.patch', { patch: { agents: { main: { toolGroups: ['browser', 'web'] } } } });
  await client.call('chat.send', { message: 'Hello' });
  const names = (gw.calls[0]?.body.tools as { function: { name: string } }[]).map((tool) => tool.function.name);
  expect(names).toEqual(expect.arrayContaining(['browser_open', 'browser_click', 'web_fetch', 'tool_search', 'tool_call']));
  expect(names).not.toContain('file_read');
});

verifies('tools/default-set', 'an agent over /v1 searches and calls as in a chat', async () => {
  await using gw = await createTestGateway({
    model: ({ body }, count) =>
      [
        [{ tool: 'tool_search', args: { query: 'count memories' } }],
        [{ tool: 'tool_call', args: { name: 'memory_stats', arguments: {} } }],
      ][count - 1] ?? [`Seen: ${String(body.messages.at(-1)?.content)}`],
  });
  const request = new Request('http://gateway.test/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'perch/main', messages: [{ role: 'user', content: 'Count' }] }),
  });
  const response = await gw.gateway.fetch(request, { id: 'owner', scopes: ['admin'] });
  expect(await response.text()).toContain('memories');
  const [first, , last] = gw.calls.map(({ body }) => body);
  expect(JSON.stringify(last?.tools)).toBe(JSON.stringify(first?.tools));
  expect(JSON.stringify(last?.messages.at(-2))).toContain('"tool_call"');
});

verifies('tools/default-set', 'costs at most 2,500 tokens, and 95 of 100 tasks find their tool', async () => {
  expect((await measureTools()).filter(({ bar }) => bar && !bar.met)).toEqual([]);
});

it('every tool of Perch has other words to be found by', async () => {
  await using gw = await createTestGateway();
  const { client } = await gw.client();
  const { tools } = await client.call('tools.list', {});
  expect([...TOOL_KEYWORDS.keys()].sort()).toEqual([...tools].sort());
});
