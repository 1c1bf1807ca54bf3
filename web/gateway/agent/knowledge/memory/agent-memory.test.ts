import { expect } from 'vitest';
import type { MemoryEntry } from '#shared/rpc/methods/memory-contracts.ts';
import { toMemoryId } from '../../../knowledge/memory/index/index-entry.ts';
import { verifies } from '../../../../../tests/requirements.ts';
import { createChannelGateway } from '../../../../../tests/support/channel-gateway.ts';
import { FakeClock } from '../../../../../tests/support/fake-clock.ts';
import { createScript, createTestGateway } from '../../../../../tests/support/test-gateway.ts';
import { getLongTermMemory } from '../../../../../tests/support/long-term-memory.ts';
import { startTelegramServer, TELEGRAM_TOKEN } from '../../../../../tests/support/telegram-server.ts';

verifies('memory.agents/calls', 'added, changed, found, listed by category, forgotten and put back', async () => {
  await using gw = await createTestGateway();
  const { client, events } = await gw.client();
  const { memory, added } = await client.call('memory.add', { text: 'The kayak is in the barn' });
  expect(added).toBe(true);
  expect(await client.call('memory.add', { text: 'The  kayak is in the barn' })).toMatchObject({ added: false, memory: { id: memory.id } });
  await client.call('memory.add', { text: 'We chose the red paint', category: 'decision' });
  expect(await client.call('memory.list', { category: 'decision' })).toMatchObject({ count: 1, memories: [{ category: 'decision' }] });
  expect((await client.call('memory.search', { query: 'boat' })).results[0]).toMatchObject({
    id: memory.id,
    kind: 'memory',
    path: 'MEMORY.md',
  });
  const changed = (await client.call('memory.update', { id: memory.id, text: 'The kayak is sold', category: 'event' })).memory;
  expect(changed).toEqual({ ...memory, id: toMemoryId('The kayak is sold'), text: 'The kayak is sold', category: 'event' });
  expect((await client.call('memory.search', { query: 'barn' })).results).toEqual([]);
  await expect(client.call('memory.update', { id: changed.id, text: 'We chose the red paint' })).rejects.toMatchObject({
    code: 'ALREADY_EXISTS',
  });
  await expect(client.call('memory.update', { id: memory.id, text: 'Gone' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  const { forgotten } = await client.call('memory.forget', { id: changed.id });
  expect(forgotten).toEqual(changed);
  expect((await client.call('memory.list', {})).count).toBe(1);
  const { id: _, ...back } = forgotten;
  expect((await client.call('memory.add', back)).memory).toEqual(changed);
  await expect(client.call('memory.add', { text: 'a\0b' })).rejects.toMatchObject({ message: '`text` must not contain NUL characters.' });
  const half = { id: changed.id, text: 'The kayak \ud800 is sold' };
  expect((await client.call('memory.update', half)).memory).toMatchObject({ text: 'The kayak \ufffd is sold' });
  await client.call('memory.update', { id: toMemoryId('The kayak \ufffd is sold'), text: changed.text });
  await client.call('memory.setPreference', { key: 'Tone', value: 'formal' });
  expect(await client.call('memory.setPreference', { key: 'tone', value: 'casual' })).toMatchObject({ replaced: 1 });
  expect((await client.call('memory.preferences', {})).preferences).toMatchObject([{ key: 'tone', value: 'casual' }]);
  expect(await client.call('memory.stats', {})).toMatchObject({ memories: 3, byCategory: { event: 1, decision: 1, preference: 1 } });
  expect(events.filter(({ event }) => event === 'memory.changed').length).toBeGreaterThan(4);
});

verifies(
  'memory.agents/files',
  'a file in the agent’s workspace, which a person may edit; agents with one workspace have one memory',
  async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    await client.call('memory.add', { text: 'Ours' });
    const { content } = await client.call('workspace.read', { path: 'MEMORY.md' });
    expect(content).toMatch(/^- \d{4}-\d\d-\d\d \d\d:\d\d \[fact\] Ours\n$/);
    await client.call('workspace.write', {
      path: 'MEMORY.md',
      content: `# By hand\n\n${content}- 2026-01-02 [task] Water the ficus\n`,
      encoding: 'utf8',
    });
    await client.call('workspace.write', { path: 'memory/2026-01-02.md', content: 'The gutters were cleaned.\n', encoding: 'utf8' });
    expect((await client.call('memory.search', { query: 'watering' })).results[0]).toMatchObject({
      text: 'Water the ficus',
      category: 'task',
    });
    expect((await client.call('memory.search', { query: 'gutter' })).results[0]).toMatchObject({
      kind: 'day',
      path: 'memory/2026-01-02.md',
    });
    expect(await client.call('memory.day', { date: '2026-01-02' })).toMatchObject({
      notes: 'The gutters were cleaned.\n',
      memories: [{ text: 'Water the ficus' }],
    });
    await client.call('agents.add', { agent_id: 'own', config: {} });
    await client.call('agents.add', { agent_id: 'shared', config: { workspace: 'main' } });
    const texts = async (agentId: string) => (await client.call('memory.list', { agentId })).memories.map(({ text }) => text);
    expect([await texts('own'), await texts('shared')]).toEqual([[], ['Ours', 'Water the ficus']]);
  },
);

verifies(
  'memory.agents/dialogs',
  'finds messages with their session until it is deleted; not the newest ones of the session itself',
  async () => {
    const asks = JSON.stringify({ query: 'kayak' });
    await using gw = await createTestGateway({ model: (call) => (call.body.messages.at(-1)?.role === 'tool' ? ['Done'] : ['All right']) });
    const { client } = await gw.client();
    const pendingSend = await client.call('chat.send', { message: 'The kayak stands behind the shed', sessionId: 'outdoors' });
    const [found] = (await client.call('memory.search', { query: 'Where is the boat?' })).results;
    expect(found).toMatchObject({
      kind: 'message',
      agentId: 'main',
      sessionId: 'outdoors',
      speaker: 'user',
      text: 'The kayak stands behind the shed',
    });
    expect(found?.after).toEqual({ text: 'All right', speaker: 'assistant' });
    const { messages } = await client.call('chat.history', { sessionId: 'outdoors' });
    expect(messages.map(({ id }) => id)).toEqual([found?.messageId, pendingSend.messageId]);
    expect(await client.call('memory.days', {})).toMatchObject({ days: [{ messages: 2, memories: 0, notes: false }] });
    // By the tool, from the same session and from another.
    const byTool = async (sessionId: string): Promise<string> => {
      await client.call('config.set', { key: 'chat.model', value: 'guide/guide' });
      await client.call('chat.send', { message: `/tool memory_search ${asks}`, sessionId });
      const history = (await client.call('chat.history', { sessionId })).messages;
      return JSON.stringify(history.findLast(({ role }) => role === 'tool')?.content);
    };
    expect(await byTool('outdoors')).not.toContain('behind the shed');
    expect(await byTool('indoors')).toContain('behind the shed');
    // Neither what the guide says, nor what a search has returned, is found again.
    await client.call('chat.send', { message: 'Where is the kayak now', sessionId: 'guided' });
    const all = (await client.call('memory.search', { query: 'kayak', limit: 50 })).results;
    expect(all.filter(({ speaker }) => speaker !== 'user').map(({ text }) => text)).toEqual(['All right']);
    const { notes } = await client.call('memory.summariseDay', { date: new Date().toISOString().slice(0, 10) });
    expect(notes).toContain('The kayak stands behind the shed');
    await client.call('sessions.delete', { path: 'main/outdoors.jsonl' });
    const left = (await client.call('memory.search', { query: 'kayak' })).results.filter(({ kind }) => kind === 'message');
    expect(left.map(({ sessionId }) => sessionId)).not.toContain('outdoors');
  },
);

verifies('memory.agents/dialogs', 'not what came over a channel', async () => {
  const clock = new FakeClock();
  await using server = await startTelegramServer(clock);
  await using gw = await createChannelGateway(
    { telegram: { enabled: true, botToken: TELEGRAM_TOKEN, apiBase: server.url, allowedUsers: [] } },
    { clock, model: () => ['Yes'] },
  );
  await gw.advanceUntil(async () => (await gw.status('telegram')).status === 'running', 'it runs');
  server.write('The kayak is mine, says a stranger');
  await gw.advanceUntil(() => server.sent.length === 1, 'an answer');
  const { client } = await gw.client();
  expect((await client.call('memory.search', { query: 'kayak' })).results).toEqual([]);
});

verifies('memory.agents/pages', 'all of it, each once, whatever is forgotten on the way', async () => {
  await using gw = await createTestGateway();
  const { client } = await gw.client();
  // Minutes with many, and with one.
  const noted = Array.from({ length: 23 }, (_, at) => ({ text: `Fact ${at}`, category: at % 4 ? ('fact' as const) : ('task' as const), createdAt: 60_000 * Math.floor(at / 5) })); // prettier-ignore
  await getLongTermMemory(gw.vault).add(noted);
  const pages = async (params: { category?: 'task' }, between: (page: MemoryEntry[]) => Promise<unknown>): Promise<string[]> => {
    const texts: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await client.call('memory.list', { ...params, limit: 3, ...(cursor === undefined ? {} : { cursor }) });
      expect(page.memories.length).toBeLessThanOrEqual(3);
      texts.push(...page.memories.map(({ text }) => text));
      cursor = page.cursor;
      await between(page.memories);
    }
    return texts;
  };
  const nothing = (): Promise<void> => Promise.resolve();
  const newest = noted.toReversed().map(({ text }) => text);
  expect(await pages({}, nothing)).toEqual(newest);
  const tasks = noted.filter(({ category }) => category === 'task').length;
  expect(await pages({ category: 'task' }, nothing)).toHaveLength(tasks);
  expect(await client.call('memory.list', { category: 'task', limit: 1 })).toMatchObject({
    count: tasks,
    byCategory: { task: tasks, fact: 23 - tasks },
  });
  expect(await client.call('memory.list', {})).toMatchObject({ count: 23, cursor: null });
  const last = await pages({}, async (page) => page.length === 3 && client.call('memory.forget', { id: page[2]?.id ?? '' }));
  expect([...new Set(last)]).toEqual(newest);
  const left = await client.call('memory.list', {});
  expect(await pages({}, (page) => Promise.all(page.map(({ id }) => client.call('memory.forget', { id }))))).toEqual(left.memories.map(({ text }) => text)); // prettier-ignore
  await expect(client.call('memory.list', { cursor: 'x' })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
});

verifies('memory.agents/recalled', 'memories recalled for each reply, page by page', async () => {
  await using gw = await createTestGateway({ model: createScript(['Noted']) });
  await getLongTermMemory(gw.vault).add([{ text: 'My dog is called Bruno', category: 'fact', createdAt: 0 }]);
  const { client } = await gw.client();
  for (const sessionId of ['one', 'two', 'three']) await client.call('chat.send', { message: 'What is my dog called?', sessionId });
  await client.call('chat.send', { message: 'Explain the TCP handshake' });
  const first = await client.call('memory.recalled', { limit: 2 });
  expect(first.recalled).toMatchObject([
    { agentId: 'main', sessionId: 'three', question: 'What is my dog called?', memories: [{ text: 'My dog is called Bruno' }] },
    { sessionId: 'two' },
  ]);
  const rest = await client.call('memory.recalled', { limit: 2, before: first.next ?? 0 });
  expect(rest).toMatchObject({ recalled: [{ sessionId: 'one' }], next: null });
  await client.call('agents.add', { agent_id: 'other', config: {} });
  expect(await client.call('memory.recalled', { agentId: 'other' })).toEqual({ recalled: [], next: null });
});

verifies(
  'memory.agents/brought-over',
  'memories that earlier versions stored for all agents move to the main agent’s file, once',
  async () => {
    await using gw = await createTestGateway();
    await gw.vault.memories.add({ id: 'a', text: 'From before', category: 'fact', createdAt: 60_000 });
    await gw.vault.memories.add({ id: 'b', text: 'Of no known kind', category: 'mystery', createdAt: 120_000 });
    // As if the interrupted run had already written the file.
    await getLongTermMemory(gw.vault).add([{ text: 'From before', category: 'fact', createdAt: 60_000 }]);
    const { client } = await gw.client();
    expect((await client.call('memory.list', {})).memories).toMatchObject([
      { text: 'Of no known kind', category: 'other', createdAt: 120_000 },
      { text: 'From before', category: 'fact', createdAt: 60_000 },
    ]);
    expect(await gw.vault.memories.list()).toEqual([]);
  },
);

verifies('memory.agents/dialogs', 'summarises a day even if the model omits headings; reports an empty summary in words', async () => {
  for (const [answer, expected] of [
    ['We spoke of the kayak.', { notes: expect.stringContaining('We spoke of the kayak.') as string }],
    ['', /^The model returned an invalid summary twice/],
  ] as const) {
    await using gw = await createTestGateway({ model: (_call, count) => [count === 1 ? 'All right' : answer] });
    const { client } = await gw.client();
    await client.call('chat.send', { message: 'The kayak stands behind the shed' });
    const summary = client.call('memory.summariseDay', { date: new Date().toISOString().slice(0, 10) });
    if (expected instanceof RegExp) await expect(summary).rejects.toMatchObject({ message: expect.stringMatching(expected) as string });
    else expect(await summary).toMatchObject(expected);
    expect(gw.calls).toHaveLength(3);
  }
});
