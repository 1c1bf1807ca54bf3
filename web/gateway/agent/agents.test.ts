import { describe, expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { createScript, createTestGateway, waitFor } from '../../../tests/support/test-gateway.ts';
import { TestHosts } from '../../../tests/support/test-hosts.ts';
import { sendRawRequest } from '../../../tests/support/raw-connection.ts';

/** Names of the tools that the model was offered in its last call. */
const getOfferedTools = ({ calls }: { calls: { body: { tools?: unknown[] } }[] }): string[] =>
  (calls.at(-1)?.body.tools ?? []).map((tool) => (tool as { function: { name: string } }).function.name).sort();

describe('agents', () => {
  verifies(
    ['agents.list/entries', 'agents.add/creates', 'agents.remove/removes'],
    'made, used, counted, removed; its chats stay',
    async () => {
      await using gw = await createTestGateway();
      const { client } = await gw.client();
      const main = { id: 'main', session_count: 0, config: { name: 'Main' } };
      expect((await client.call('agents.list', {})).agents).toEqual([main]);
      expect((await client.call('agents.list', {})).defaultInstructions).toContain('personal assistant');
      const config = { name: 'Writer', systemPrompt: 'Write well.', temperature: 0.3, workspace: 'writing', avatar: '✍️' };
      expect(await client.call('agents.add', { agent_id: 'writer', config })).toEqual({ agent_id: 'writer', created: true });
      await client.call('chat.send', { message: 'hi', agentId: 'writer', sessionId: 'one' });
      await client.call('chat.send', { message: 'hi', agentId: 'writer', sessionId: 'two' });
      expect((await client.call('agents.list', {})).agents).toEqual([main, { id: 'writer', session_count: 2, config }]);
      expect(gw.calls[0]?.body).toMatchObject({
        temperature: 0.3,
        messages: [{ role: 'system', content: expect.stringContaining('Write well.') }, {}],
      });
      expect(await client.call('agents.remove', { agent_id: 'writer' })).toEqual({ agent_id: 'writer', removed: true });
      expect((await client.call('agents.list', {})).agents).toEqual([main]);
      await expect(client.call('chat.send', { message: 'hi', agentId: 'writer' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
      expect((await client.call('sessions.preview', { path: 'writer/one.jsonl' })).messages).toHaveLength(2);
    },
  );

  verifies('agents/main', 'and refuses ids that are taken, unknown or invalid', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    await client.call('agents.add', { agent_id: 'a' });
    const refused: [method: 'add' | 'remove' | 'list', params: Record<string, unknown>, code: string][] = [
      ['add', { agent_id: 'a' }, 'ALREADY_EXISTS'],
      ['add', { agent_id: 'main' }, 'ALREADY_EXISTS'],
      ['remove', { agent_id: 'main' }, 'INVALID_PARAMS'],
      ['remove', { agent_id: 'b' }, 'NOT_FOUND'],
      ['remove', { agent_id: 'toString' }, 'NOT_FOUND'],
      ['add', { agent_id: 'no id' }, 'INVALID_PARAMS'],
      ['add', { agent_id: '__proto__' }, 'INVALID_PARAMS'],
      ['add', { agent_id: 'constructor' }, 'INVALID_PARAMS'],
      ['add', { agent_id: 'b', config: { temperature: 3 } }, 'INVALID_PARAMS'],
      ['add', { agent_id: 'b', config: { other: 1 } }, 'INVALID_PARAMS'],
      ['add', {}, 'INVALID_PARAMS'],
      ['list', { more: 1 }, 'INVALID_PARAMS'],
    ];
    for (const [method, params, code] of refused) {
      await expect(client.request(`agents.${method}`, params), JSON.stringify(params)).rejects.toMatchObject({ code });
    }
    expect((await client.call('agents.list', {})).agents.map(({ id }) => id)).toEqual(['main', 'a']);
    const { client: reader } = await gw.client({ scopes: ['write'] });
    await expect(reader.call('agents.add', { agent_id: 'b' })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  });

  verifies('agents/sessions', 'they stay, with the name of the agent that was removed, or go with it', async () => {
    await using gw = await createTestGateway();
    const { client, events } = await gw.client();
    const marks = async () => (await client.call('sessions.list', {})).sessions.map(({ path, removedAgent }) => [path, removedAgent]);
    await client.call('agents.add', { agent_id: 'writer', config: { name: 'Poet' } });
    await client.call('chat.send', { message: 'hi', agentId: 'writer' });
    await client.call('chat.send', { message: 'hi' });
    expect(await client.call('agents.remove', { agent_id: 'writer' })).toEqual({ agent_id: 'writer', removed: true });
    expect((await marks()).sort()).toEqual([
      ['main/main.jsonl', undefined],
      ['writer/main.jsonl', 'Poet'],
    ]);
    expect(events.some(({ event, payload }) => event === 'sessions.changed' && (payload as { agentId: string }).agentId === 'writer')).toBe(
      true,
    );
    expect((await client.call('chat.history', { sessionId: 'main', agentId: 'writer' })).messages).toHaveLength(2);
    // An agent of the same id takes them over.
    await client.call('agents.add', { agent_id: 'writer' });
    expect((await marks()).map(([, mark]) => mark)).toEqual([undefined, undefined]);
    await expect(client.call('agents.remove', { agent_id: 'main', deleteSessions: true })).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
    });
    await expect(client.call('agents.remove', { agent_id: 'none', deleteSessions: true })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await client.call('agents.remove', { agent_id: 'writer', deleteSessions: true })).toEqual({
      agent_id: 'writer',
      removed: true,
      deletedSessions: 1,
    });
    expect((await marks()).map(([path]) => path)).toEqual(['main/main.jsonl']);
  });

  verifies('agents/sessions', 'an agent that a change of the configuration removes leaves its name too', async () => {
    const hosts = new TestHosts();
    await using gw = await hosts.host();
    await using other = await hosts.host();
    const { client } = await gw.client();
    const marks = async (from = client) =>
      Object.fromEntries((await from.call('sessions.list', {})).sessions.map(({ agentId, removedAgent }) => [agentId, removedAgent]));
    const agents = { writer: { name: 'Poet' }, cook: {} };
    await client.call('config.patch', { patch: { agents } });
    for (const agentId of ['writer', 'cook', 'main']) await client.call('chat.send', { message: 'hi', agentId });
    await client.call('config.patch', { patch: { agents: { writer: { temperature: 1 } } } });
    expect(await marks()).toEqual({ writer: undefined, cook: undefined, main: undefined });
    await client.call('config.patch', { patch: { agents: { writer: null } } });
    expect(await marks()).toEqual({ writer: 'Poet', cook: undefined, main: undefined });
    await client.call('config.set', { key: 'agents', value: {} });
    expect(await marks()).toEqual({ writer: 'Poet', cook: 'cook', main: undefined });
    const { client: elsewhere } = await other.client();
    await waitFor(async () => (await marks(elsewhere))['cook'] === 'cook', 'the other host to follow');
    await client.call('config.set', { key: 'agents.cook', value: { name: 'Chef' } });
    await client.call('config.set', { key: 'agents.main', value: { name: 'Me' } });
    await client.call('config.set', { key: 'agents.main', value: null });
    expect(await marks()).toEqual({ writer: 'Poet', cook: undefined, main: undefined });
    await waitFor(async () => (await marks(elsewhere))['cook'] === undefined, 'the other host to follow');
    expect((await elsewhere.call('sync.conflicts', {})).conflicts).toEqual([]);
    expect([...gw.faults, ...other.faults]).toEqual([]);
  });

  verifies('agents/config', 'made at once by two', async () => {
    await using gw = await createTestGateway();
    const [a, b] = [await gw.client(), await gw.client()];
    const outcomes = await Promise.allSettled([
      a.client.call('agents.add', { agent_id: 'one', config: { model: 'test/one' } }),
      b.client.call('agents.add', { agent_id: 'two', config: { model: 'test/two' } }),
      b.client.call('agents.add', { agent_id: 'one' }),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    for (const agentId of ['one', 'two']) await a.client.call('chat.send', { message: 'hi', agentId });
    expect(gw.calls.map(({ body }) => body.model)).toEqual(['one', 'two']);
    await a.client.call('agents.add', { agent_id: 'bare' });
    await using next = await createTestGateway({ vault: gw.vault, useGuide: true });
    const { client: later } = await next.client();
    expect((await later.call('agents.list', {})).agents.map(({ id }) => id)).toEqual(['main', 'bare', 'one', 'two']);
  });

  verifies('agents/tools', 'allowed and denied by name and pattern; memory off', async () => {
    await using gw = await createTestGateway({ model: (_call, count) => (count % 2 ? [{ tool: 'current_time', args: {} }] : ['done']) });
    const { client } = await gw.client();
    const sendMessage = async (agentId: string): Promise<unknown> => {
      await client.call('chat.send', { message: 'what time is it?', agentId });
      const { messages } = await client.call('chat.history', { sessionId: 'main', agentId });
      return messages.find(({ role }) => role === 'tool')?.content;
    };
    const config = { toolGroups: ['*'] };
    await client.call('agents.add', { agent_id: 'all', config });
    expect(await sendMessage('all')).toMatch(/unixMs/);
    const all = getOfferedTools(gw);
    expect(all).toEqual(expect.arrayContaining(['current_time', 'memory_add', 'memory_search', 'session_search']));
    const some = { allow: ['memory_*', '*_search'], deny: ['memory_a*d'] };
    await client.call('agents.add', { agent_id: 'few', config: { ...config, tools: some } });
    expect(await sendMessage('few')).toMatch(/Unknown tool \\"current_time\\"/);
    expect(getOfferedTools(gw)).toEqual(
      all.filter((name) => (name.startsWith('memory_') || name.endsWith('_search')) && name !== 'memory_add'),
    );
    await client.call('agents.add', { agent_id: 'forgetful', config: { ...config, memory: false } });
    await sendMessage('forgetful');
    expect(getOfferedTools(gw)).toEqual(all.filter((name) => !/^(?:memory|wiki)_/.test(name)));
    await client.call('agents.add', { agent_id: 'none', config: { tools: { allow: [] } } });
    expect(await sendMessage('none')).toMatch(/Unknown tool \\"current_time\\"\. Available: none/);
    expect(getOfferedTools(gw)).toEqual([]);
  });

  verifies('agents/bindings', 'and the earlier shape of the list', async () => {
    await using gw = await createTestGateway({ model: createScript(['hi']) });
    const { client } = await gw.client();
    await client.call('agents.add', { agent_id: 'shop', config: { model: 'test/shop' } });
    await client.call('config.set', { key: 'bindings', value: [{ pattern: 'telegram:*', agentId: 'shop' }] });
    const bindings = [
      { pattern: 'telegram:*', agentId: 'shop' },
      { pattern: '*', agentId: 'main' },
    ];
    expect(await client.call('agents.bindings', {})).toEqual(bindings);
    expect(await sendRawRequest(gw, 'agents.bindings', '{}', 2)).toMatchObject({ ok: true, payload: bindings });
    expect(await sendRawRequest(gw, 'agents.list', '{}', 2)).toMatchObject({
      ok: true,
      payload: [
        { id: 'main', name: 'Main', model: null },
        { id: 'shop', name: 'shop', model: 'test/shop' },
      ],
    });
  });
});
