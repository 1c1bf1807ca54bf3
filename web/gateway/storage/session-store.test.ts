import { expect, test } from 'vitest';
import {
  storeAnswer,
  storeQuestion,
  readChangeLog,
  readAllRows,
  TEST_VAULT_KEY,
  newMessage,
  newRun,
  newSession,
  createTestVault,
} from './fixture.ts';

test('the list is in the order of the last change', async () => {
  await using vault = await createTestVault();
  for (const [at, id] of ['a', 'c', 'b'].entries()) {
    const key = `main/${id}`;
    const message = newMessage(id, null, { sessionKey: key });
    await vault.runs.begin({ session: newSession(key), message, run: newRun(id, id, { sessionKey: key, startedAt: 10 + at }) });
  }
  expect((await vault.sessions.list()).map(({ sessionId }) => sessionId)).toEqual(['b', 'c', 'a']);
});

test('an update changes the fields it names, never the identity', async () => {
  await using vault = await createTestVault();
  await storeQuestion(vault, 'm1');
  const hostile = { title: 'New', key: 'x/y', agentId: 'x', sessionId: 'y' };
  const updated = await vault.sessions.update(TEST_VAULT_KEY, hostile);
  expect(updated).toMatchObject({ title: 'New', key: TEST_VAULT_KEY, agentId: 'main', sessionId: 'main', headId: 'm1' });
  expect(await vault.sessions.list()).toEqual([updated]);
  expect(await vault.sessions.update('main/none', { title: 'x' })).toBeUndefined();
});

test('removing a session takes its messages and ended runs, and those of no other', async () => {
  await using vault = await createTestVault();
  await storeAnswer(vault, await storeQuestion(vault, 'm1'));
  // Keys with a common prefix are distinguished.
  const other = 'main/main2';
  const message = newMessage('o1', null, { sessionKey: other });
  await vault.runs.begin({ session: newSession(other), message, run: newRun('o', 'o1', { sessionKey: other }) });
  expect(await vault.sessions.remove(TEST_VAULT_KEY)).toBe(true);
  expect(await vault.sessions.remove(TEST_VAULT_KEY)).toBe(false);
  const { sessions, messages, runs } = await readAllRows(vault.name);
  expect([sessions, messages, runs].map((rows) => Object.keys(rows as object))).toEqual([[other], ['o1'], ['o']]);
  expect((await readChangeLog(vault.name)).filter((change) => change.startsWith('-')).sort()).toEqual(
    ['-messages m1', '-messages re-m1', '-runs run-m1', `-sessions ${TEST_VAULT_KEY}`, `-heads ${TEST_VAULT_KEY}`].sort(),
  );
});

test('clearing keeps the entry, empty', async () => {
  await using vault = await createTestVault();
  await storeAnswer(vault, await storeQuestion(vault, 'm1'));
  await vault.sessions.update(TEST_VAULT_KEY, { title: 'Mine', tags: ['a'] });
  expect(await vault.sessions.clear(TEST_VAULT_KEY)).toBe(true);
  const empty = { messageCount: 0, size: 0, preview: '', headId: null, updatedAt: vault.clock.now() };
  expect(await vault.sessions.get(TEST_VAULT_KEY)).toEqual(newSession(TEST_VAULT_KEY, { title: 'Mine', tags: ['a'], ...empty }));
  expect(await vault.messages.branch(TEST_VAULT_KEY, { limit: 5 })).toEqual({ messages: [], more: false, versions: {}, unread: {} });
  expect(await vault.messages.recent(5)).toEqual([]);
  expect(await vault.sessions.clear('main/none')).toBe(false);
});
