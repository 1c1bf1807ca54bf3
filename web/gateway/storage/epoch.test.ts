import { openDB } from 'idb';
import { expect, test } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import type { Vault } from './vault-interface.ts';
import { OwnershipLostError } from './vault-errors.ts';
import { storeAnswer, storeQuestion, readAllRows, TEST_VAULT_KEY, newMessage, newResult, newStep, createTestVault } from './fixture.ts';
import { acquireEpoch } from './open-vault.ts';

const writes: Record<string, (vault: Vault) => Promise<unknown>> = {
  'runs.begin': (vault) => storeQuestion(vault, 'm2'),
  'runs.savePartial': (vault) => vault.runs.savePartial('run-m1', 'x'),
  'runs.saveStep': (vault) => vault.runs.saveStep(newStep('m1')),
  'runs.saveResult': (vault) => vault.runs.saveResult(newResult('m1')),
  'runs.finish': (vault) => storeAnswer(vault, newMessage('m1', null)),
  'runs.withdraw': (vault) => vault.runs.withdraw('run-m1'),
  'sessions.update': (vault) => vault.sessions.update(TEST_VAULT_KEY, { title: 'x' }),
  'sessions.clear': (vault) => vault.sessions.clear(TEST_VAULT_KEY),
  'sessions.remove': (vault) => vault.sessions.remove(TEST_VAULT_KEY),
  'config.write': (vault) => vault.config.write({ a: 1 }),
  'secrets.set': (vault) => vault.secrets.set('s', 'x'),
  'memories.add': (vault) => vault.memories.add({ id: 'n', text: 'x', category: 'fact', createdAt: 1 }),
};

for (const [operation, write] of Object.entries(writes)) {
  verifies('storage/epoch', `${operation} of an earlier owner is refused, and its vault ends`, async () => {
    const name = `epoch-${operation}`;
    await using old = await createTestVault({ name, epoch: await acquireEpoch(name) });
    await storeQuestion(old.vault, 'm1');
    await using owner = await createTestVault({ name, epoch: await acquireEpoch(name) });
    const before = await readAllRows(name);
    await expect(write(old.vault)).rejects.toBeInstanceOf(OwnershipLostError);
    expect(await readAllRows(name)).toEqual(before);
    expect(old.closed).toEqual(['ownership-lost']);
    await expect(old.sessions.list()).rejects.toBeInstanceOf(OwnershipLostError);
    await expect(write(old.vault)).rejects.toBeInstanceOf(OwnershipLostError);
    expect(old.closed).toEqual(['ownership-lost']);
    await write(owner.vault);
    expect(owner.closed).toEqual([]);
  });
}

verifies(
  'storage/epoch',
  'of writes under way when ownership changes, the acknowledged are kept, the others not stored at all',
  async () => {
    const name = 'epoch-race';
    await using old = await createTestVault({ name, epoch: await acquireEpoch(name) });
    const ids = Array.from({ length: 60 }, (_, at) => `n${String(at).padStart(2, '0')}`);
    const acknowledged: string[] = [];
    const refused: unknown[] = [];
    let taken: Promise<number> | undefined;
    await Promise.all(
      ids.map(async (id, at) => {
        await old.memories.add({ id, text: 'x', category: 'fact', createdAt: at }).then(
          () => acknowledged.push(id),
          (error: unknown) => refused.push(error),
        );
        taken ??= acquireEpoch(name);
      }),
    );
    await taken;
    await expect(old.config.write({})).rejects.toBeInstanceOf(OwnershipLostError);
    const { memories } = await readAllRows(name);
    expect(Object.keys(memories as object)).toEqual(acknowledged.sort());
    expect(acknowledged.length + refused.length).toBe(ids.length);
    for (const error of refused) expect(error).toBeInstanceOf(OwnershipLostError);
  },
);

test('every epoch is higher than the one before, also after the data were cleared', async () => {
  const name = 'epoch-order';
  const first = await acquireEpoch(name);
  const second = await acquireEpoch(name);
  expect(second).toBeGreaterThan(first);
  const db = await openDB(name);
  await db.clear('local');
  db.close();
  expect(await acquireEpoch(name)).toBeGreaterThanOrEqual(first);
});

test('an owner whose data the browser cleared is the owner still', async () => {
  const name = 'epoch-cleared';
  const epoch = await acquireEpoch(name);
  await using vault = await createTestVault({ name, epoch });
  const db = await openDB(name);
  await db.clear('local');
  db.close();
  await vault.config.write({ a: 1 });
  expect(await acquireEpoch(name)).toBeGreaterThan(epoch);
  await expect(vault.config.write({ a: 2 })).rejects.toBeInstanceOf(OwnershipLostError);
});
