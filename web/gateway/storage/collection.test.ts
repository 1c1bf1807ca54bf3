import { expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { Database } from './database.ts';
import { readChangeLog, createTestVault } from './fixture.ts';
import { migrations } from './migrations.ts';

const policy = (hash: string) => ({ hash, command: 'ls', args: [], workingDir: '/', createdAt: 1 });

verifies('storage/change-log', 'records of every kind are kept, changed and removed, each noted', async () => {
  await using vault = await createTestVault();
  const policies = vault.vault.collection('execPolicies');
  await policies.put(policy('b'));
  await policies.put(policy('a'));
  expect((await policies.list()).map(({ hash }) => hash)).toEqual(['a', 'b']);
  expect((await policies.list('a')).map(({ hash }) => hash)).toEqual(['a']);
  expect(await policies.list('ab')).toEqual([]);
  expect(await policies.update('a', (before) => before && { ...before, command: 'pwd' })).toMatchObject({ command: 'pwd' });
  expect(await policies.update('none', (before) => before)).toBeUndefined();
  expect(await policies.get('a')).toMatchObject({ command: 'pwd' });
  expect([await policies.remove('a'), await policies.remove('a')]).toEqual([true, false]);
  expect(await readChangeLog(vault.name)).toEqual(['execPolicies b', '-execPolicies a']);
});

verifies('storage/migrations', 'a vault of the third version has room for the records that came with the fourth', async () => {
  const name = 'third-version';
  const database = new Database({ name, migrations: migrations.slice(0, 3) });
  const memory = { id: 'm', text: 'x', category: 'fact', createdAt: 1 };
  await database.write(['memories'], 'strict', async (tx) => void (await tx.objectStore('memories').put(memory)));
  await database.close();
  await using vault = await createTestVault({ name });
  expect(await vault.memories.list()).toEqual([memory]);
  await vault.vault.collection('execPolicies').put(policy('a'));
  expect(await vault.vault.collection('execPolicies').list()).toHaveLength(1);
});

verifies('storage/migrations', 'a vault of the fourth version has room for keys and responses', async () => {
  const name = 'fourth-version';
  const database = new Database({ name, migrations: migrations.slice(0, 4) });
  await database.write(['execPolicies'], 'strict', async (tx) => void (await tx.objectStore('execPolicies').put(policy('a'))));
  await database.close();
  await using vault = await createTestVault({ name });
  expect(await vault.vault.collection('execPolicies').list()).toEqual([policy('a')]);
  const response = { id: 'resp_1', principal: 'owner', createdAt: 1, previousId: null, input: [], output: [], fields: {}, chars: 2 };
  await vault.vault.collection('responses').put(response);
  expect(await vault.vault.collection('responses').list()).toEqual([response]);
  expect(await vault.vault.collection('apiKeys').list()).toEqual([]);
  expect(await readChangeLog(name)).toEqual(['responses resp_1']);
});
