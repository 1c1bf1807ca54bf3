import { expect, test } from 'vitest';
import { answer, ask, changesOf, contentOf, KEY, newMessage, newRun, newSession, testVault } from './fixture.ts';

test('the list is in the order of the last change', async () => {
  await using vault = await testVault();
  for (const [at, id] of ['a', 'c', 'b'].entries()) {
    const key = `main/${id}`;
    const message = newMessage(id, null, { sessionKey: key });
    await vault.runs.begin({ session: newSession(key), message, run: newRun(id, id, { sessionKey: key, startedAt: 10 + at }) });
  }
  expect((await vault.sessions.list()).map(({ sessionId }) => sessionId)).toEqual(['b', 'c', 'a']);
});

test('an update changes the fields it names, never the identity', async () => {
  await using vault = await testVault();
  await ask(vault, 'm1');
  const hostile = { title: 'New', key: 'x/y', agentId: 'x', sessionId: 'y' };
  const updated = await vault.sessions.update(KEY, hostile);
  expect(updated).toMatchObject({ title: 'New', key: KEY, agentId: 'main', sessionId: 'main', headId: 'm1' });
  expect(await vault.sessions.list()).toEqual([updated]);
  expect(await vault.sessions.update('main/none', { title: 'x' })).toBeUndefined();
});

test('removing a session takes its messages and ended runs, and those of no other', async () => {
  await using vault = await testVault();
  await answer(vault, await ask(vault, 'm1'));
  // Keys with a common prefix are distinguished.
  const other = 'main/main2';
  const message = newMessage('o1', null, { sessionKey: other });
  await vault.runs.begin({ session: newSession(other), message, run: newRun('o', 'o1', { sessionKey: other }) });
  expect(await vault.sessions.remove(KEY)).toBe(true);
  expect(await vault.sessions.remove(KEY)).toBe(false);
  const { sessions, messages, runs } = await contentOf(vault.name);
  expect([sessions, messages, runs].map((rows) => Object.keys(rows as object))).toEqual([[other], ['o1'], ['o']]);
  expect((await changesOf(vault.name)).filter((change) => change.startsWith('-')).sort()).toEqual(
    ['-messages m1', '-messages re-m1', '-runs run-m1', `-sessions ${KEY}`, `-heads ${KEY}`].sort(),
  );
});

test('clearing keeps the entry, empty', async () => {
  await using vault = await testVault();
  await answer(vault, await ask(vault, 'm1'));
  await vault.sessions.update(KEY, { title: 'Mine', tags: ['a'] });
  expect(await vault.sessions.clear(KEY)).toBe(true);
  const empty = { messageCount: 0, size: 0, preview: '', headId: null, updatedAt: vault.clock.now() };
  expect(await vault.sessions.get(KEY)).toEqual(newSession(KEY, { title: 'Mine', tags: ['a'], ...empty }));
  expect(await vault.messages.branch(KEY, { limit: 5 })).toEqual({ messages: [], more: false, versions: {}, unread: {} });
  expect(await vault.messages.recent(5)).toEqual([]);
  expect(await vault.sessions.clear('main/none')).toBe(false);
});
