import { openDB } from 'idb';
import { expect, test } from 'vitest';
import { getClockOrigin } from '#shared/sync/record.ts';
import { verifies } from '../../../tests/requirements.ts';
import type { Vault } from './vault-interface.ts';
import {
  storeAnswer,
  storeQuestion,
  readChangeLog,
  dumpDatabase,
  TEST_VAULT_KEY,
  newMessage,
  newUsage,
  createTestVault,
} from './fixture.ts';
import type { ChangeRow } from './vault-schema.ts';

const memory = { id: 'n', text: 'x', category: 'fact', createdAt: 1 };

const cases: [string, (vault: Vault) => Promise<unknown>, string[]][] = [
  [
    'sessions, messages, runs',
    (vault) => storeQuestion(vault, 'm1'),
    ['messages m1', 'runs run-m1', `sessions ${TEST_VAULT_KEY}`, `heads ${TEST_VAULT_KEY}`],
  ],
  [
    'usage of a run',
    async (vault) => {
      await storeQuestion(vault, 'm1');
      await vault.runs.finish({ runId: 'run-m1', status: 'failed', endedAt: 1, messages: [], usage: newUsage('u') });
    },
    ['messages m1', 'runs run-m1', `sessions ${TEST_VAULT_KEY}`, `heads ${TEST_VAULT_KEY}`, 'usage u'],
  ],
  [
    'usage by itself',
    async (vault) => {
      vault.usage.add(newUsage('u'));
      await vault.usage.since(0);
    },
    ['usage u'],
  ],
  [
    'config, of which only the pieces that change',
    async (vault) => {
      await vault.config.write({ a: 1, providers: { one: { baseUrl: 'x' }, two: { baseUrl: 'y' } } });
      await vault.config.write({ providers: { one: { baseUrl: 'z' }, two: { baseUrl: 'y' } } });
    },
    ['-config a', 'config providers.one', 'config providers.two'],
  ],
  [
    'an entry renamed, its branch left alone',
    async (vault) => {
      await storeAnswer(vault, await storeQuestion(vault, 'm1'));
      await vault.sessions.update(TEST_VAULT_KEY, { title: 'Other' });
    },
    ['messages m1', 'messages re-m1', 'runs run-m1', `sessions ${TEST_VAULT_KEY}`, `heads ${TEST_VAULT_KEY}`],
  ],
  ['secrets', (vault) => vault.secrets.set('s', 'x'), ['secrets s']],
  ['memories', (vault) => vault.memories.add(memory), ['memories n']],
  ['a secret removed', (vault) => vault.secrets.set('s', 'x').then(() => vault.secrets.set('s', null)), ['-secrets s']],
  ['a memory removed', (vault) => vault.memories.add(memory).then(() => vault.memories.remove('n')), ['-memories n']],
  ['a secret that never was', (vault) => vault.secrets.set('s', null), []],
  ['a memory that never was', (vault) => vault.memories.remove('n'), []],
];

for (const [name, change, expected] of cases) {
  verifies('storage/change-log', name, async () => {
    await using vault = await createTestVault();
    await change(vault.vault);
    expect((await readChangeLog(vault.name)).sort()).toEqual(expected.sort());
  });
}

async function readRows(name: string): Promise<ChangeRow[]> {
  return Object.values((await dumpDatabase(name))['changes'] ?? {}) as ChangeRow[];
}

verifies('storage/change-log', 'the log holds the last change of each record, so it does not grow with changes', async () => {
  await using vault = await createTestVault();
  for (let at = 0; at < 50; at++) await vault.config.write({ at });
  expect(await readRows(vault.name)).toEqual([{ store: 'config', key: 'at', clock: expect.stringMatching(/-here$/), own: 1, base: null }]);
});

test('a record that comes back is no longer marked as gone', async () => {
  await using vault = await createTestVault();
  await vault.memories.add(memory);
  await vault.memories.remove('n');
  await vault.memories.add(memory);
  expect(await readChangeLog(vault.name)).toEqual(['memories n']);
});

test('rows of one transaction have one reading, later ones a later, in a wall clock that goes back too', async () => {
  await using vault = await createTestVault();
  const question = await storeQuestion(vault, 'm1');
  const first = new Set((await readRows(vault.name)).map(({ clock }) => clock));
  expect(first.size).toBe(1);
  vault.clock.jump(-1_000_000);
  await storeAnswer(vault, question);
  const [reading = ''] = first;
  expect(
    (await readRows(vault.name))
      .filter(({ clock }) => clock > reading)
      .map(({ key }) => key)
      .sort(),
  ).toEqual([TEST_VAULT_KEY, 're-m1', 'run-m1'].sort());
});

test('a vault that is opened again goes on after the last reading, however its wall clock stands', async () => {
  await using vault = await createTestVault();
  await vault.config.write({ a: 1 });
  await vault.close();
  await using next = await createTestVault({
    name: vault.name,
    clock: { ...vault.clock, now: () => 5, monotonic: () => 0, after: () => () => {} },
  });
  await next.memories.add(memory);
  expect(await readChangeLog(vault.name)).toEqual(['config a', 'memories n']);
});

test('a vault that is opened again goes on after what it met of others', async () => {
  await using vault = await createTestVault();
  const met = {
    store: 'memories',
    key: 'met',
    clock: '999999999999999-0000-there',
    seal: 'none',
    payload: JSON.stringify({ ...memory, id: 'met' }),
    seq: 1,
  } as const;
  await vault.vault.sync.apply([met], null, false);
  await vault.close();
  await using next = await createTestVault({ name: vault.name });
  await next.memories.add(memory);
  expect(await readChangeLog(vault.name)).toEqual(['memories met', 'memories n']);
});

test('writes at the same time are logged in the order in which they commit', async () => {
  await using vault = await createTestVault();
  const memories = Array.from({ length: 20 }, (_, at) => ({ ...memory, id: `n${at}` }));
  await Promise.all(memories.map((each) => vault.memories.add(each)));
  expect(await readChangeLog(vault.name)).toEqual(memories.map(({ id }) => `memories ${id}`));
});

test('without an origin given, each opening writes as another one, and the copy stays the same', async () => {
  const name = 'origins';
  const copies: string[] = [];
  for (const id of ['a', 'b']) {
    await using vault = await createTestVault({ name, origin: undefined as never });
    await vault.memories.add({ ...memory, id });
    expect((await readRows(name)).map(({ clock }) => getClockOrigin(clock))).toContain(vault.origin);
    copies.push(vault.vault.replica);
  }
  expect(new Set((await readRows(name)).map(({ clock }) => getClockOrigin(clock))).size).toBe(2);
  expect(copies[1]).toBe(copies[0]);
  await using other = await createTestVault();
  expect(other.vault.replica).not.toBe(copies[0]);
});

test('what is local to a copy is in no log', async () => {
  await using vault = await createTestVault({ epoch: 1 });
  await vault.secrets.set('s', 'x');
  const db = await openDB(vault.name);
  const stores = new Set((await readRows(vault.name)).map(({ store }) => store));
  expect([await db.count('keys'), await db.count('local')]).toEqual([1, 2]);
  db.close();
  expect([...stores]).toEqual(['secrets']);
  await vault.sessions.update(newMessage('x', null).sessionKey, {});
  expect((await readRows(vault.name)).length).toBe(1);
});
