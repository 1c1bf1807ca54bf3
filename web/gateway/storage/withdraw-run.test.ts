import { expect, test } from 'vitest';
import { storeAnswer, storeQuestion, readAllRows, TEST_VAULT_KEY, newMessage, newRun, newSession, createTestVault } from './fixture.ts';

const picture = { type: 'image' as const, mimeType: 'image/png', data: 'x'.repeat(4000) };

test('a run that is taken back leaves its session as it was', async () => {
  await using vault = await createTestVault();
  const reply = await storeAnswer(vault, await storeQuestion(vault, 'm1'));
  const before = await readAllRows(vault.name);
  const session = await vault.sessions.get(TEST_VAULT_KEY);
  const message = newMessage('m2', reply, { content: [{ type: 'text', text: 'See' }, picture] });
  await vault.runs.begin({ session: newSession(), message, run: newRun('run-m2', 'm2') });
  expect(await vault.runs.withdraw('run-m2')).toBe('message');
  expect(await vault.sessions.get(TEST_VAULT_KEY)).toEqual(session);
  const { messages, runs, blobs, partials } = await readAllRows(vault.name);
  expect({ messages, runs, blobs, partials }).toEqual({
    ...{ messages: before['messages'], runs: before['runs'], blobs: before['blobs'], partials: before['partials'] },
  });
  expect(await vault.messages.listAll(TEST_VAULT_KEY)).toHaveLength(2);
  expect(await vault.runs.withdraw('run-m2')).toBeUndefined();
});

test('a session that began with it goes too; one that was there before stays, though it is empty', async () => {
  await using vault = await createTestVault();
  const begin = (createdAt: number) =>
    vault.runs.begin({ session: newSession(TEST_VAULT_KEY, { createdAt }), message: newMessage('m1', null), run: newRun('run-m1', 'm1') });
  await begin(2_000);
  expect(await vault.runs.withdraw('run-m1')).toBe('session');
  expect(await vault.sessions.list()).toEqual([]);
  await vault.sessions.add(newSession(TEST_VAULT_KEY, { createdAt: 500 }), []);
  await begin(500);
  expect(await vault.runs.withdraw('run-m1')).toBe('message');
  expect(await vault.sessions.get(TEST_VAULT_KEY)).toMatchObject({ headId: null, messageCount: 0, size: 0, preview: '' });
});

test('what has ended, was gone on from, or is another host’s stays', async () => {
  await using vault = await createTestVault();
  await storeAnswer(vault, await storeQuestion(vault, 'm1'));
  expect(await vault.runs.withdraw('run-m1')).toBeUndefined();
  await storeQuestion(vault, 'm2');
  await storeQuestion(vault, 'm3');
  expect(await vault.runs.withdraw('run-m2')).toBeUndefined();
  await vault.close();
  await using next = await createTestVault({ name: vault.name, origin: 'there' });
  expect(await next.runs.withdraw('run-m3')).toBeUndefined();
  expect((await next.messages.listAll(TEST_VAULT_KEY)).map(({ id }) => id).sort()).toEqual(['m1', 'm2', 'm3', 're-m1']);
});
