import { openDB } from 'idb';
import { expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { Database } from './database.ts';
import { answer, ask, contentOf, KEY, testVault } from './fixture.ts';
import { steps, type Step } from './migrations.ts';

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
    for (const row of await config.getAll()) await config.put({ ...row, value: { ...row.value, migrated: true } });
  };
  for (let opening = 0; opening < 2; opening++) {
    const database = new Database({ name: vault.name, steps: [...steps, next] });
    const value = await database.read(['config'], (tx) => tx.objectStore('config').getAll());
    expect(value).toEqual([{ name: 'main', value: { a: 1, migrated: true } }]);
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
