import { afterEach, expect, test, vi } from 'vitest';
import { acquireEpoch } from './open-vault.ts';
import type { UsageGroup } from './vault-schema.ts';
import { dumpDatabase, newUsage, createTestVault } from './fixture.ts';

const stored = async (name: string): Promise<string[]> =>
  Object.values((await dumpDatabase(name))['usage'] ?? {}).flatMap((group) => (group as UsageGroup).records.map(({ id }) => id));

afterEach(() => void vi.restoreAllMocks());

test('what comes within 50 ms is committed in one transaction', async () => {
  await using vault = await createTestVault();
  const transactions = vi.spyOn(IDBDatabase.prototype, 'transaction');
  for (let at = 0; at < 40; at++) vault.usage.add(newUsage(`u${at}`));
  await vault.clock.advance(49);
  expect(transactions).not.toHaveBeenCalled();
  await vault.clock.advance(1);
  await vi.waitFor(() => expect(transactions).toHaveBeenCalled());
  const writes = transactions.mock.calls.length;
  transactions.mockRestore();
  expect(writes).toBe(1);
  await vi.waitFor(async () => expect(await stored(vault.name)).toHaveLength(40));
  // The next group has a separate timer.
  vault.usage.add(newUsage('later'));
  await vault.clock.advance(50);
  await vi.waitFor(async () => expect(await stored(vault.name)).toHaveLength(41));
  expect(vault.clock.pending()).toBe(0);
});

test('since gives what waits too, oldest first', async () => {
  await using vault = await createTestVault();
  for (const at of [30, 10, 20]) vault.usage.add(newUsage(`u${at}`, { at }));
  expect((await vault.usage.since(20)).map(({ at }) => at)).toEqual([20, 30]);
});

test('is stored when the promise resolves, and counts once even if sent again with others', async () => {
  await using vault = await createTestVault();
  await vault.usage.addStrict([newUsage('a')]);
  expect(await stored(vault.name)).toEqual(['a']);
  await vault.usage.addStrict([newUsage('b'), newUsage('a')]);
  expect((await vault.usage.since(0)).map(({ id }) => id).sort()).toEqual(['a', 'b']);
});

test('closing stores what waits', async () => {
  await using vault = await createTestVault();
  vault.usage.add(newUsage('u'));
  await vault.close();
  expect(await stored(vault.name)).toEqual(['u']);
});

test('a group that fails is told, kept, and goes with the next', async () => {
  const faults: unknown[] = [];
  await using vault = await createTestVault({ onfault: (error) => faults.push(error) });
  const put = vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(() => {
    throw new DOMException('full', 'QuotaExceededError');
  });
  vault.usage.add(newUsage('a'));
  await vault.clock.advance(50);
  await vi.waitFor(() => expect(faults).toMatchObject([{ name: 'StorageFullError' }]));
  put.mockRestore();
  vault.usage.add(newUsage('b'));
  await vault.clock.advance(50);
  await vi.waitFor(async () => expect(await stored(vault.name)).toEqual(['a', 'b']));
});

test('a vault that lost its ownership stores no usage, and says so', async () => {
  const name = 'usage-lost';
  const faults: unknown[] = [];
  await using vault = await createTestVault({ name, epoch: await acquireEpoch(name), onfault: (error) => faults.push(error) });
  await acquireEpoch(name);
  vault.usage.add(newUsage('u'));
  await vault.clock.advance(50);
  await vi.waitFor(() => expect(faults).toMatchObject([{ name: 'OwnershipLostError' }]));
  expect(await stored(name)).toEqual([]);
  expect(vault.closed).toEqual(['ownership-lost']);
});
