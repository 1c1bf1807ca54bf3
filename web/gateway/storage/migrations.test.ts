import { openDB } from 'idb';
import { expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { Database } from './database.ts';
import { storeAnswer, storeQuestion, readChangeLog, readAllRows, TEST_VAULT_KEY, newSession, createTestVault } from './fixture.ts';
import { migrations, type VaultMigration } from './migrations.ts';

const reading = (at: number, origin: string): string => `${String(at).padStart(15, '0')}-0000-${origin}`;

verifies('storage/migrations', 'the version is the number of steps, and opening again keeps the data', async () => {
  await using vault = await createTestVault();
  await storeAnswer(vault.vault, await storeQuestion(vault.vault, 'm1'));
  await vault.close();
  const before = await readAllRows(vault.name);
  await using again = await createTestVault({ name: vault.name });
  expect(await again.sessions.get(TEST_VAULT_KEY)).toMatchObject({ headId: 're-m1' });
  expect(await readAllRows(vault.name)).toEqual(before);
  const db = await openDB(vault.name);
  expect(db.version).toBe(migrations.length);
  db.close();
});

verifies('storage/migrations', 'a step that is appended runs once, on the data of the version before', async () => {
  await using vault = await createTestVault();
  await vault.config.write({ a: 1 });
  await vault.close();
  let runs = 0;
  const next: VaultMigration = async (_db, tx) => {
    runs++;
    const config = tx.objectStore('config');
    for (const row of await config.getAll()) await config.put({ ...row, value: { migrated: row.value } });
  };
  for (let opening = 0; opening < 2; opening++) {
    const database = new Database({ name: vault.name, migrations: [...migrations, next] });
    const value = await database.read(['config'], (tx) => tx.objectStore('config').getAll());
    expect(value).toEqual([{ name: 'a', value: { migrated: 1 } }]);
    await database.close();
  }
  expect(runs).toBe(1);
});

verifies('storage/migrations', 'a step that fails leaves the earlier version as it was, and says why', async () => {
  await using vault = await createTestVault();
  await vault.config.write({ a: 1 });
  await vault.close();
  const before = await readAllRows(vault.name);
  const failing: VaultMigration = async (_db, tx) => {
    await tx.objectStore('config').clear();
    throw new Error('broken on purpose');
  };
  const database = new Database({ name: vault.name, migrations: [...migrations, failing] });
  await expect(database.read(['config'], (tx) => tx.objectStore('config').getAll())).rejects.toThrow('broken on purpose');
  await database.close();
  expect(await readAllRows(vault.name)).toEqual(before);
  await using again = await createTestVault({ name: vault.name });
  expect(await again.config.read()).toEqual({ a: 1 });
});

verifies(
  'storage/migrations',
  'a vault of the first version keeps all it has, in the pieces that are synced from the second on',
  async () => {
    const name = 'first-version';
    const [first] = migrations;
    if (!first) throw new Error('there is no first step');
    const clock = reading(7, 'old');
    const database = new Database({ name, migrations: [first] });
    await database.write(['sessions', 'config', 'changes', 'local'], 'strict', async (tx) => {
      const value = { chat: { model: 'm' }, providers: { one: { baseUrl: 'x' } } };
      await Promise.all([
        tx.objectStore('sessions').put(newSession(TEST_VAULT_KEY, { headId: 'm1' })),
        tx.objectStore('config').put({ name: 'main', value }),
        tx.objectStore('changes').put({ store: 'sessions', key: TEST_VAULT_KEY, clock }),
        tx.objectStore('changes').put({ store: 'config', key: 'main', clock }),
        tx.objectStore('local').put({ name: 'origin', value: 'old' } as never),
      ]);
    });
    await database.close();
    await using vault = await createTestVault({ name });
    expect(await vault.config.read()).toEqual({ chat: { model: 'm' }, providers: { one: { baseUrl: 'x' } } });
    expect(await vault.sessions.get(TEST_VAULT_KEY)).toMatchObject({ headId: 'm1' });
    expect(vault.vault.replica).toBe('old');
    expect((await readChangeLog(name)).sort()).toEqual(
      ['config chat', 'config providers.one', `heads ${TEST_VAULT_KEY}`, `sessions ${TEST_VAULT_KEY}`].sort(),
    );
  },
);

verifies('storage/migrations', 'a vault of the second version knows still what is its own, what is gone, and what it has met', async () => {
  const name = 'second-version';
  const future = reading(Date.UTC(2100, 0), 'there');
  const database = new Database({ name, migrations: migrations.slice(0, 2) });
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
  await using vault = await createTestVault({ name });
  expect(await vault.vault.sync.readPendingKeys()).toEqual([
    ['memories', 'own'],
    ['memories', 'own-gone'],
  ]);
  await vault.vault.sync.pruneTombstones(1_000);
  expect(await readChangeLog(name)).toEqual(['memories own', '-memories own-gone', 'memories theirs']);
  await vault.memories.add({ id: 'late', text: 'x', category: 'fact', createdAt: 1 });
  expect((await readChangeLog(name)).at(-1)).toBe('memories late');
});
