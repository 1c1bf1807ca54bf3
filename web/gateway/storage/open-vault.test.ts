import { expect, test } from 'vitest';
import { storeQuestion, TEST_VAULT_KEY, createTestVault } from './fixture.ts';

test('the configuration is one document, replaced as a whole', async () => {
  await using vault = await createTestVault();
  expect(await vault.config.read()).toBeUndefined();
  await vault.config.write({ a: { b: 1 }, c: [1, null] });
  await vault.config.write({ a: { d: true } });
  expect(await vault.config.read()).toEqual({ a: { d: true } });
});

test('memories are added, listed oldest first, and removed', async () => {
  await using vault = await createTestVault();
  const memory = (id: string, createdAt: number) => ({ id, text: `text of ${id}`, category: 'fact', createdAt });
  await vault.memories.add(memory('b', 2));
  await vault.memories.add(memory('a', 1));
  expect(await vault.memories.list()).toEqual([memory('a', 1), memory('b', 2)]);
  expect(await vault.memories.remove('a')).toBe(true);
  expect(await vault.memories.remove('a')).toBe(false);
  expect(await vault.memories.list()).toEqual([memory('b', 2)]);
});

test('closing lets what is under way commit, and refuses what comes later', async () => {
  await using vault = await createTestVault();
  const question = storeQuestion(vault.vault, 'm1');
  const closed = vault.close();
  await Promise.all([question, closed]);
  await expect(vault.config.read()).rejects.toMatchObject({ name: 'VaultClosedError' });
  await vault.close();
  await expect(vault.config.write({})).rejects.toMatchObject({ name: 'VaultClosedError' });
  expect(vault.closed).toEqual([]);
  await using next = await createTestVault({ name: vault.name });
  expect(await next.sessions.get(TEST_VAULT_KEY)).toMatchObject({ headId: 'm1' });
});
