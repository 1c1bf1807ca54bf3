import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { createTestGateway, type ModelScript } from '../../../../tests/support/test-gateway.ts';
import { eraseInFile } from './erase-in-file.ts';
import { eraseTexts } from './erase-values.ts';
import { createQueryMatcher, createTextMatcher } from './forget-matcher.ts';

const FACT = 'The boat of Ana is called Wanderer.';
const remember: ModelScript = (_call, count) => (count === 1 ? [{ tool: 'memory_add', args: { text: FACT }, id: 'a' }] : ['Noted.']);

describe('forgetting', () => {
  verifies('forgetting/preview', 'shows each piece, where it is, and whether it goes', async () => {
    await using gw = await createTestGateway({ model: remember });
    const { client } = await gw.client();
    await client.call('chat.send', { message: `Please note: ${FACT}`, sessionId: 'boats' });
    await client.call('workspace.write', { workspace: 'main', path: 'letters/ana.md', content: `${FACT}\n` });
    const [{ id: memoryId = '' } = {}] = (await client.call('memory.list', {})).memories;
    const { pieces, count } = await client.call('forgetting.preview', { memoryId });
    expect(count).toBe(pieces.length);
    const shown = pieces.map(({ kind, place, selected, reason }) => [kind, place, selected, reason]);
    expect(shown).toContainEqual(['memory', 'MEMORY.md', true, undefined]);
    expect(shown).toContainEqual(['message', 'main/boats.jsonl', false, 'chat']);
    expect(shown).toContainEqual(['file', 'letters/ana.md', false, 'file']);
    // Nothing has changed.
    expect((await client.call('memory.list', {})).count).toBe(1);
    await expect(client.call('forgetting.preview', { memoryId: 'm-none' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(client.call('forgetting.preview', { memoryId, query: 'boat' })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    await expect(client.call('forgetting.preview', { query: '?!' })).resolves.toMatchObject({ count: 0 });
  });

  verifies(['forgetting/chats', 'forgetting/report'], 'a chat that stays is no longer read by memory', async () => {
    await using gw = await createTestGateway({ model: remember });
    const { client, events } = await gw.client();
    await client.call('chat.send', { message: `Please note: ${FACT}`, sessionId: 'boats' });
    await client.call('chat.send', { message: 'It rains.', sessionId: 'boats' });
    const search = async () => (await client.call('memory.search', { query: 'Wanderer' })).results.map(({ kind }) => kind);
    expect(await search()).toContain('message');
    const { pieces } = await client.call('forgetting.preview', { query: 'Wanderer' });
    const pieceIds = pieces.filter(({ selected }) => selected).map(({ id }) => id);
    const { report } = await client.call('forgetting.apply', { query: 'Wanderer', pieceIds });
    expect(report).toMatchObject({ removed: { memory: 1 }, excludedMessages: 2, remaining: [{ kind: 'message', reason: 'chat' }] });
    expect(await search()).toEqual([]);
    const { messages } = await client.call('chat.history', { sessionId: 'boats' });
    expect(messages[0]?.content).toBe(`Please note: ${FACT}`);
    expect((await client.call('memory.search', { query: 'rains' })).results).not.toEqual([]);
    expect((await client.call('trash.list', {})).items).toEqual([]);
    expect(await client.call('forgetting.list', {})).toEqual({ reports: [report], count: 1 });
    expect(JSON.stringify(report)).not.toContain('Wanderer');
    expect(events.map(({ event }) => event)).toContain('memory.changed');

    // Chosen later, the messages lose the text and keep their place.
    const again = await client.call('forgetting.preview', { query: 'Wanderer' });
    await client.call('forgetting.apply', { query: 'Wanderer', pieceIds: again.pieces.map(({ id }) => id) });
    const after = (await client.call('chat.history', { sessionId: 'boats' })).messages;
    expect([after.length, after[0]?.content]).toEqual([messages.length, '[forgotten]']);
    expect(JSON.stringify(after)).not.toContain('Wanderer');
    expect((await client.call('forgetting.preview', { query: 'Wanderer' })).count).toBe(0);
    expect(gw.faults).toEqual([]);
  });

  verifies('forgetting/person', 'programs can neither preview nor apply it', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const { key } = await client.call('keys.create', { name: 'script', scopes: ['write'] });
    expect(key.name).toBe('script');
    const { GatewayClient } = await import('#shared/client/client.ts');
    const program = await GatewayClient.connect(gw.link({ principal: `key:${key.id}`, scopes: ['read', 'write'] }), {
      params: { clientName: 'script' },
    });
    await expect(program.call('forgetting.preview', { query: 'boat' })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    await expect(program.call('forgetting.apply', { query: 'boat', pieceIds: ['x'] })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    await expect(program.call('forgetting.list', {})).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    program.close();
  });

  verifies('forgetting/proposal', 'an agent can only propose it; what it proposed goes with the rest', async () => {
    const propose: ModelScript = (_call, count) =>
      count === 1 ? [{ tool: 'memory_propose_forgetting', args: { query: 'Wanderer' }, id: 'f' }] : ['Please decide on the card.'];
    await using gw = await createTestGateway({ model: propose });
    const { client } = await gw.client();
    await client.call('memory.add', { text: FACT });
    await client.call('chat.send', { message: 'Forget the Wanderer.', sessionId: 'boats' });
    const read = async () => (await client.call('chat.history', { sessionId: 'boats' })).messages;
    const result = (await read()).find(({ role }) => role === 'tool');
    expect(JSON.parse(String(result?.content))).toMatchObject({ proposed: true, deleted: 0 });
    expect((await client.call('memory.list', {})).count).toBe(1);
    expect(await client.call('forgetting.list', {})).toEqual({ reports: [], count: 0 });
    // A person confirms it on the card, which calls these two.
    const { pieces } = await client.call('forgetting.preview', { query: 'Wanderer' });
    await client.call('forgetting.apply', { query: 'Wanderer', pieceIds: pieces.map(({ id }) => id) });
    expect((await client.call('memory.list', {})).count).toBe(0);
    expect(JSON.stringify(await read())).not.toContain('Wanderer');
    await expect(client.call('tools.run', { tool: 'memory_propose_forgetting', args: { query: 'a' } })).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
    });
    expect(gw.faults).toEqual([]);
  });

  it('keeps a memory that a person has edited unless it is chosen', async () => {
    await using gw = await createTestGateway({ model: remember });
    const { client } = await gw.client();
    await client.call('chat.send', { message: 'Note the boat.', sessionId: 'boats' });
    const [{ id = '' } = {}] = (await client.call('memory.list', {})).memories;
    await client.call('memory.update', { id, text: 'The boat of Ana is called Windward.' });
    const find = async () => (await client.call('forgetting.preview', { query: 'Windward' })).pieces.find(({ kind }) => kind === 'memory');
    expect(await find()).toMatchObject({ selected: false, reason: 'edited' });
  });

  it('names of deleted files stay for other devices, which the report says', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    await client.call('wiki.savePage', { path: 'entities/Wanderer', content: '# Boat\n' });
    const { pieces } = await client.call('forgetting.preview', { query: 'Wanderer' });
    expect(pieces).toMatchObject([{ kind: 'page', place: 'wiki/entities/Wanderer.md', selected: true }]);
    const { report } = await client.call('forgetting.apply', { query: 'Wanderer', pieceIds: pieces.map(({ id }) => id) });
    expect(report).toMatchObject({ removed: { page: 1 }, remaining: [{ kind: 'name', reason: 'sync', count: 1 }] });
    expect((await client.call('wiki.pages', {})).pages.map(({ path }) => path)).not.toContain('entities/Wanderer.md');
  });
});

describe('matching', () => {
  it('compares no names that Perch gives to files and members', () => {
    const matches = (text: string): boolean => createQueryMatcher('memory').matchesLine(text);
    const options = { matches, erase: () => true, getMemoryReason: () => undefined };
    for (const path of ['memory/2026-11-20.md', '.dreams/reports/a.md', 'wiki/index.md'])
      expect(eraseInFile({ workspace: 'main', path, content: '<!-- memory -->\n' }, options)).toBe('<!-- memory -->\n');
    expect(eraseInFile({ workspace: 'main', path: 'MEMORY.md', content: '# Notes\n' }, options)).toBe('# Notes\n');
    const line = '{"content":"Y","source_ref":"memory/2026-11-20.md","event":"memory"}\n';
    expect(eraseInFile({ workspace: 'main', path: '.dreams/signals.jsonl', content: line }, options)).toBe(line);
    expect(eraseTexts({ role: 'memory', name: 'memory_add', memory: 'x', text: 'a memory' }, matches)).toEqual({
      ...{ role: 'memory', name: 'memory_add', memory: 'x' },
      text: '[forgotten]',
    });
  });

  it('finds words in any form of writing, and a memory in other words', () => {
    const query = createQueryMatcher('Café Ana');
    expect(['Ana likes the CAFE', 'anas cafés'].map((line) => query.matchesLine(line))).toEqual([true, true]);
    expect(['A banana in the café', 'Ana'].map((line) => query.matchesLine(line))).toEqual([false, false]);
    expect(createQueryMatcher('猫').matchesLine('我的猫叫咪咪')).toBe(true);
    expect(createQueryMatcher('…').matchesLine('…')).toBe(false);
    const memory = createTextMatcher('Ana keeps her blue boat in the harbour of Kiel.');
    expect(memory.matchesLine('- Ana keeps her blue boat in the harbour of Kiel. (2026)')).toBe(true);
    expect(memory.matchesLine('In Kiel, the harbour keeps the blue boat of Ana')).toBe(true);
    expect(memory.matchesLine('Ana has a blue car.')).toBe(false);
  });

  it('erases lines of dreaming and claims, and leaves the rest as it is', () => {
    const matches = (text: string): boolean => text.includes('X');
    const options = { matches, erase: () => true, getMemoryReason: () => undefined };
    const erase = (path: string, content: string) => eraseInFile({ workspace: 'main', path, content }, options);
    const signals = '{"content":"X"}\n{"content":"Y","query":"X?","recalls":[{"query":"X?"}]}\nbroken X\n{"content":"Z"}\n';
    expect(erase('.dreams/signals.jsonl', signals)).toBe(
      '{"content":"Y","query":"[forgotten]","recalls":[{"query":"[forgotten]"}]}\n{"content":"Z"}\n',
    );
    expect(erase('wiki/.perch-wiki/claims/c.jsonl', '{"claim":{"text":"X"}}\n')).toBeUndefined();
    expect(erase('MEMORY.md', '# Memory\n\n- 2026-11-22 [fact] X\n  and more\n- 2026-11-22 [fact] Y\n')).toBe(
      '# Memory\n\n- 2026-11-22 [fact] Y\n',
    );
    expect(erase('MEMORY.md', '# Memory\r\n')).toBe('# Memory\r\n');
  });

  it('keeps what has an outside source untrusted', () => {
    const matches = (text: string): boolean => text.includes('X');
    expect(eraseTexts({ outside: ['web:X.com', 'web:y.com'], tags: ['X', 'y'] }, matches)).toEqual({
      outside: ['unknown:forgotten', 'web:y.com'],
      tags: ['y'],
    });
  });
});
