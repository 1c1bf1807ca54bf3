import { openDB } from 'idb';
import { expect, test } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { OwnershipLost, type Vault } from '../core/vault.ts';
import { answer, ask, contentOf, KEY, newMessage, newResult, newStep, testVault } from './fixture.ts';
import { takeEpoch } from './vault.ts';

const writes: Record<string, (vault: Vault) => Promise<unknown>> = {
  'runs.begin': (vault) => ask(vault, 'm2'),
  'runs.savePartial': (vault) => vault.runs.savePartial('run-m1', 'x'),
  'runs.saveStep': (vault) => vault.runs.saveStep(newStep('m1')),
  'runs.saveResult': (vault) => vault.runs.saveResult(newResult('m1')),
  'runs.finish': (vault) => answer(vault, newMessage('m1', null)),
  'runs.withdraw': (vault) => vault.runs.withdraw('run-m1'),
  'sessions.update': (vault) => vault.sessions.update(KEY, { title: 'x' }),
  'sessions.clear': (vault) => vault.sessions.clear(KEY),
  'sessions.remove': (vault) => vault.sessions.remove(KEY),
  'config.write': (vault) => vault.config.write({ a: 1 }),
  'secrets.set': (vault) => vault.secrets.set('s', 'x'),
  'memories.add': (vault) => vault.memories.add({ id: 'n', text: 'x', category: 'fact', createdAt: 1 }),
};

for (const [operation, write] of Object.entries(writes)) {
  verifies('storage/epoch', `${operation} of an earlier owner is refused, and its vault ends`, async () => {
    const name = `epoch-${operation}`;
    await using old = await testVault({ name, epoch: await takeEpoch(name) });
    await ask(old.vault, 'm1');
    await using owner = await testVault({ name, epoch: await takeEpoch(name) });
    const before = await contentOf(name);
    await expect(write(old.vault)).rejects.toBeInstanceOf(OwnershipLost);
    expect(await contentOf(name)).toEqual(before);
    expect(old.closed).toEqual(['ownership-lost']);
    await expect(old.sessions.list()).rejects.toBeInstanceOf(OwnershipLost);
    await expect(write(old.vault)).rejects.toBeInstanceOf(OwnershipLost);
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
    await using old = await testVault({ name, epoch: await takeEpoch(name) });
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
        taken ??= takeEpoch(name);
      }),
    );
    await taken;
    await expect(old.config.write({})).rejects.toBeInstanceOf(OwnershipLost);
    const { memories } = await contentOf(name);
    expect(Object.keys(memories as object)).toEqual(acknowledged.sort());
    expect(acknowledged.length + refused.length).toBe(ids.length);
    for (const error of refused) expect(error).toBeInstanceOf(OwnershipLost);
  },
);

test('every epoch is higher than the one before, also after the data were cleared', async () => {
  const name = 'epoch-order';
  const first = await takeEpoch(name);
  const second = await takeEpoch(name);
  expect(second).toBeGreaterThan(first);
  const db = await openDB(name);
  await db.clear('local');
  db.close();
  expect(await takeEpoch(name)).toBeGreaterThanOrEqual(first);
});

test('an owner whose data the browser cleared is the owner still', async () => {
  const name = 'epoch-cleared';
  const epoch = await takeEpoch(name);
  await using vault = await testVault({ name, epoch });
  const db = await openDB(name);
  await db.clear('local');
  db.close();
  await vault.config.write({ a: 1 });
  expect(await takeEpoch(name)).toBeGreaterThan(epoch);
  await expect(vault.config.write({ a: 2 })).rejects.toBeInstanceOf(OwnershipLost);
});
