import { openDB } from 'idb';
import { expect } from 'vitest';
import type { SequencedRecord } from '#shared/ports/journal-port.ts';
import type { GatewayClient } from '#shared/client/client.ts';
import { newMessage, newSession } from '../../storage/fixture.ts';
import { openVault, type IndexedDbVault } from '../../storage/open-vault.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { systemClock } from '#shared/async/clock.ts';
import { createTestGateway, waitFor } from '../../../../tests/support/test-gateway.ts';

let databaseCount = 0;

async function createFixture() {
  const name = `core-search-${++databaseCount}`;
  const vault: IndexedDbVault = await openVault({ name, clock: systemClock, onclosed: () => {} });
  const gateway = await createTestGateway({ vault, useGuide: true });
  const { client } = await gateway.client();
  return { vault, client, name, gateway, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() };
}

let messageCount = 0;
const addSession = (vault: IndexedDbVault, key: string, texts: string[], change: Parameters<typeof newSession>[1] = {}, age = 0) =>
  vault.sessions.add(
    newSession(key, { updatedAt: 1_000 - age, ...change }),
    texts.map((content) => newMessage(`m${++messageCount}`, null, { sessionKey: key, content, timestamp: Date.now() - age })),
  );

const searchTexts = async (client: GatewayClient, query: string, more = {}): Promise<string[]> =>
  (await client.call('sessions.search', { query, ...more })).results.map(({ session }) => session.sessionId);

verifies('sessions.search/finds', 'by message and title, with where the words stand', async () => {
  await using gw = await createFixture();
  const { vault, client } = gw;
  await addSession(vault, 'main/ferry', ['When does it go?', 'The ferry to Größe leaves at noon'], { title: 'Travel' });
  await addSession(vault, 'main/milk', ['Buy milk'], { title: 'Ferry and milk' });
  const { results, total, cursor, incomplete } = await client.call('sessions.search', { query: 'grosse ferr' });
  expect({ total, cursor, incomplete }).toEqual({ total: 1, cursor: null, incomplete: undefined });
  const [{ session, messageId, role, snippet, matches, titleMatches } = { session: undefined }] = results;
  expect({ path: session?.path, messageId, role, snippet }).toEqual({
    ...{ path: 'main/ferry.jsonl', messageId: `m${messageCount - 1}`, role: 'user', snippet: 'The ferry to Größe leaves at noon' },
  });
  expect(matches?.map(([start, end]) => snippet?.slice(start, end))).toEqual(['ferry', 'Größe']);
  expect(titleMatches).toEqual([]);
  const titled = await client.call('sessions.search', { query: 'ferry milk' });
  expect(titled.results[0]).toMatchObject({
    messageId: null,
    role: null,
    titleMatches: [
      [0, 5],
      [10, 14],
    ],
  });
  expect(await searchTexts(client, '"ferry to"')).toEqual(['ferry']);
  expect(await searchTexts(client, '"to ferry"')).toEqual([]);
  expect(await searchTexts(client, '!?')).toEqual([]);
});

verifies('sessions.search/finds', 'only where it is looked for, page by page', async () => {
  await using gw = await createFixture();
  const { vault, client } = gw;
  await addSession(vault, 'main/a', ['boats'], { folder: 'Work/Sea', tags: ['x'] });
  await addSession(vault, 'other/b', ['boats'], { folder: 'Workshop', archived: true });
  await addSession(vault, 'main/c', ['boats'], { folder: 'Work', pinned: true });
  expect(await searchTexts(client, 'boats', { agentId: 'other' })).toEqual(['b']);
  expect((await searchTexts(client, 'boats', { folder: 'Work' })).sort()).toEqual(['a', 'c']);
  expect(await searchTexts(client, 'boats', { tag: 'x' })).toEqual(['a']);
  expect(await searchTexts(client, 'boats', { archived: true })).toEqual(['b']);
  expect(await searchTexts(client, 'boats', { pinned: true })).toEqual(['c']);
  const seenIds: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page: { cursor: string | null; results: { session: { sessionId: string } }[] } = await client.call('sessions.search', {
      ...{ query: 'boats', limit: 1 },
      ...(cursor === undefined ? {} : { cursor }),
    });
    seenIds.push(...page.results.map(({ session }) => session.sessionId));
    cursor = page.cursor;
  }
  expect(seenIds.sort()).toEqual(['a', 'b', 'c']);
});

verifies('sessions.search/finds', 'finds new messages, and no longer deleted or reset ones', async () => {
  await using gw = await createFixture();
  const { client } = gw;
  await client.call('chat.send', { message: 'An albatross flew by', sessionId: 'birds' });
  expect(await searchTexts(client, 'albatross')).toEqual(['birds']);
  await client.call('chat.edit', { message: 'A cormorant flew by', sessionId: 'birds' });
  expect(await searchTexts(client, 'cormorant')).toEqual(['birds']);
  await client.call('sessions.reset', { path: 'main/birds.jsonl' });
  expect(await searchTexts(client, 'cormorant flew')).toEqual([]);
  await client.call('chat.send', { message: 'A pelican flew by', sessionId: 'birds' });
  await client.call('sessions.delete', { path: 'main/birds.jsonl' });
  expect(await searchTexts(client, 'pelican')).toEqual([]);
});

verifies('search/rebuilt', 'from a great many messages, while searches say that they are incomplete', async () => {
  await using gw = await createFixture();
  const { vault, client, name } = gw;
  const texts = Array.from({ length: 3_000 }, (_, at) => `Heron number ${at}`);
  await addSession(vault, 'main/herons', texts);
  await waitFor(async () => !(await client.call('sessions.search', { query: 'heron' })).incomplete, 'the index');
  const db = await openDB(name);
  await db.put('local', { name: 'search', form: 0, id: 'older', segments: [], filled: null });
  db.close();
  expect((await client.call('sessions.search', { query: 'heron' })).incomplete).toBe(true);
  await waitFor(async () => !(await client.call('sessions.search', { query: 'heron' })).incomplete, 'the index');
  expect(await searchTexts(client, '2999')).toEqual(['herons']);
});

verifies('sessions.list/pages', 'all, some, or pages of them, in order', async () => {
  await using gw = await createFixture();
  const { vault, client } = gw;
  for (let at = 0; at < 7; at++) await addSession(vault, `main/s${at}`, ['x'], { tags: at % 2 ? ['odd'] : [] }, at - (at % 2));
  const all = await client.call('sessions.list', {});
  expect(all).toMatchObject({ total: 7, cursor: null });
  expect(all.sessions.map(({ sessionId }) => sessionId)).toEqual(['s0', 's1', 's2', 's3', 's4', 's5', 's6']);
  const seenIds: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page: typeof all = await client.call('sessions.list', { limit: 3, ...(cursor === undefined ? {} : { cursor }) });
    expect(page.total).toBe(7);
    seenIds.push(...page.sessions.map(({ sessionId }) => sessionId));
    cursor = page.cursor;
  }
  expect(seenIds).toEqual(all.sessions.map(({ sessionId }) => sessionId));
  for (const cursor of ['junk', '', '12', '12 main', `${all.sessions[0]?.updatedAt} main/s0/more`]) {
    await expect(client.call('sessions.list', { cursor }), cursor).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
      message: expect.stringContaining('cursor') as string,
    });
    await expect(client.call('sessions.search', { query: 'x', cursor: `${cursor}!` }), cursor).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
      message: expect.stringContaining('must be a cursor from sessions.search') as string,
    });
  }
  const odd = await client.call('sessions.list', { tag: 'odd', limit: 2 });
  expect(odd).toMatchObject({ total: 3, sessions: [{ sessionId: 's1' }, { sessionId: 's3' }] });
  const two = await client.call('sessions.list', { paths: ['main/s6.jsonl', 'main/s2.jsonl', 'main/none.jsonl'] });
  expect(two.sessions.map(({ sessionId }) => sessionId)).toEqual(['s2', 's6']);
});

verifies('sessions.list/pages', 'as they are after every change, here and on another host', async () => {
  await using gw = await createFixture();
  const { vault, client } = gw;
  const titles = async (): Promise<string[]> => (await client.call('sessions.list', {})).sessions.map(({ title }) => title).sort();
  await addSession(vault, 'main/a', ['x'], { title: 'A' });
  expect(await titles()).toEqual(['A']);
  await client.call('sessions.rename', { path: 'main/a.jsonl', title: 'B' });
  const foreign = (value: unknown, seq: number): SequencedRecord => ({
    ...{ store: 'sessions', key: 'main/there', clock: `00200000000000${seq}-0000-there`, seal: 'none', seq },
    ...(value === undefined ? { payload: null, deleted: true } : { payload: JSON.stringify(value) }),
  });
  await vault.sync.apply([foreign({ title: 'C', createdAt: 1, pinned: false, archived: false, folder: null, tags: [] }, 1)], null, false);
  expect(await titles()).toEqual(['B', 'C']);
  await vault.sync.apply([foreign(undefined, 2)], null, false);
  await client.call('sessions.delete', { path: 'main/a.jsonl' });
  expect(await titles()).toEqual([]);
});

verifies('tools/session-search', 'however many came since', async () => {
  await using gw = await createFixture();
  const { vault, client } = gw;
  await addSession(vault, 'main/old', ['The spare key lies under the blue flowerpot'], {}, 10_000_000);
  await addSession(
    vault,
    'main/new',
    Array.from({ length: 2_100 }, (_, at) => `Entry ${at}`),
  );
  const askModel = async (message: string): Promise<string> => {
    await client.call('chat.send', { message, sessionId: 'asking' });
    const { messages: said } = await client.call('chat.history', { sessionId: 'asking' });
    const { content } = said.at(-1) ?? { content: '' };
    return typeof content === 'string' ? content : '';
  };
  await waitFor(async () => !(await client.call('sessions.search', { query: 'flowerpot' })).incomplete, 'the index');
  expect(await askModel('/tool session_search {"query":"key flowerpot"}')).toContain('under the blue flowerpot');
  expect(await askModel('Where is my spare key, the flowerpot one?')).toContain('under the blue flowerpot');
});
