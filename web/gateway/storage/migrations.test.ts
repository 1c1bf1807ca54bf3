import { openDB } from 'idb';
import { expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { Database } from './database.ts';
import { answer, ask, changesOf, contentOf, KEY, newSession, testVault } from './fixture.ts';
import { steps, type Step } from './migrations.ts';

const reading = (at: number, origin: string): string => `${String(at).padStart(15, '0')}-0000-${origin}`;

verifies('storage/migrations', 'the version is the number of steps, and opening again keeps the data', async () => {
  await using vault = await testVault();
  await answer(vault.vault, await ask(vault.vault, 'm1'));
  await vault.close();
  const before = await contentOf(vault.name);
  await using again = await testVault({ name: vault.name });
  expect(await again.sessions.get(KEY)).toMatchObject({ headId: 're-m1' });
  expect(await contentOf(vault.name)).toEqual(before);
  const db = await openDB(vault.name);
  expect(db.version).toBe(steps.length);
  db.close();
});

verifies('storage/migrations', 'a step that is appended runs once, on the data of the version before', async () => {
  await using vault = await testVault();
  await vault.config.write({ a: 1 });
  await vault.close();
  let runs = 0;
  const next: Step = async (_db, tx) => {
    runs++;
    const config = tx.objectStore('config');
    for (const row of await config.getAll()) await config.put({ ...row, value: { migrated: row.value } });
  };
  for (let opening = 0; opening < 2; opening++) {
    const database = new Database({ name: vault.name, steps: [...steps, next] });
    const value = await database.read(['config'], (tx) => tx.objectStore('config').getAll());
    expect(value).toEqual([{ name: 'a', value: { migrated: 1 } }]);
    await database.close();
  }
  expect(runs).toBe(1);
});

verifies('storage/migrations', 'a step that fails leaves the earlier version as it was, and says why', async () => {
  await using vault = await testVault();
  await vault.config.write({ a: 1 });
  await vault.close();
  const before = await contentOf(vault.name);
  const failing: Step = async (_db, tx) => {
    await tx.objectStore('config').clear();
    throw new Error('broken on purpose');
  };
  const database = new Database({ name: vault.name, steps: [...steps, failing] });
  await expect(database.read(['config'], (tx) => tx.objectStore('config').getAll())).rejects.toThrow('broken on purpose');
  await database.close();
  expect(await contentOf(vault.name)).toEqual(before);
  await using again = await testVault({ name: vault.name });
  expect(await again.config.read()).toEqual({ a: 1 });
});

verifies(
  'storage/migrations',
  'a vault of the first version keeps all it has, in the pieces that are synced from the second on',
  async () => {
    const name = 'first-version';
    const [first] = steps;
    if (!first) throw new Error('there is no first step');
    const clock = reading(7, 'old');
    const database = new Database({ name, steps: [first] });
    await database.write(['sessions', 'config', 'changes', 'local'], 'strict', async (tx) => {
      const value = { chat: { model: 'm' }, providers: { one: { baseUrl: 'x' } } };
      await Promise.all([
        tx.objectStore('sessions').put(newSession(KEY, { headId: 'm1' })),
        tx.objectStore('config').put({ name: 'main', value }),
        tx.objectStore('changes').put({ store: 'sessions', key: KEY, clock }),
        tx.objectStore('changes').put({ store: 'config', key: 'main', clock }),
        tx.objectStore('local').put({ name: 'origin', value: 'old' } as never),
      ]);
    });
    await database.close();
    await using vault = await testVault({ name });
    expect(await vault.config.read()).toEqual({ chat: { model: 'm' }, providers: { one: { baseUrl: 'x' } } });
    expect(await vault.sessions.get(KEY)).toMatchObject({ headId: 'm1' });
    expect(vault.vault.replica).toBe('old');
    expect((await changesOf(name)).sort()).toEqual(['config chat', 'config providers.one', `heads ${KEY}`, `sessions ${KEY}`].sort());
  },
);

verifies('storage/migrations', 'a vault of the second version knows still what is its own, what is gone, and what it has met', async () => {
  const name = 'second-version';
  const future = reading(Date.UTC(2100, 0), 'there');
  const database = new Database({ name, steps: steps.slice(0, 2) });
  await database.write(['memories', 'changes'], 'strict', async (tx) => {
    const changes = [
      { store: 'memories', key: 'own', clock: reading(1, 'here') },
      { store: 'memories', key: 'own-gone', clock: reading(2, 'here'), deleted: true },
      { store: 'memories', key: 'theirs', clock: future, foreign: true },
      { store: 'memories', key: 'theirs-gone', clock: reading(3, 'there'), foreign: true, deleted: true },
    ];
    await Promise.all(changes.map((row) => tx.objectStore('changes').put(row as never)));
  });
  await database.close();
  await using vault = await testVault({ name });
  expect(await vault.vault.sync.pending()).toEqual([
    ['memories', 'own'],
    ['memories', 'own-gone'],
  ]);
  await vault.vault.sync.prune(1_000);
  expect(await changesOf(name)).toEqual(['memories own', '-memories own-gone', 'memories theirs']);
  await vault.memories.add({ id: 'late', text: 'x', category: 'fact', createdAt: 1 });
  expect((await changesOf(name)).at(-1)).toBe('memories late');
});
