import { expect, it } from 'vitest';
import type { SequencedRecord } from '#shared/ports/journal-port.ts';
import type { SyncStore } from '#shared/sync/record.ts';
import { TEST_VAULT_KEY, newMessage, newRun, newSession, createTestVault } from './fixture.ts';
import { toSessionFields } from './session-records.ts';

const record = (store: SyncStore, key: string, payload: string, seq: number): SequencedRecord => ({
  store,
  key,
  clock: `99999999999999${seq % 10}-${String(seq).padStart(4, '0')}-there`,
  seal: 'none',
  payload,
  seq,
});

const DEEP_VALUE = `{"id":"deep","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
const message = JSON.stringify(newMessage('m', null, { content: 'hello' }));
const INVALID_RECORDS: readonly [store: SyncStore, key: string, payload: string][] = [
  ['memories', 'deep', DEEP_VALUE],
  ['memories', 'a', '{"id":"b"}'],
  ['memories', 'a', '5'],
  ['memories', 'a', '[]'],
  ['plans', 'a', '{}'],
  ['config', 'chat', '{"id":"chat"}'],
  ['messages', 'n', '{"id":"n","sessionKey":5,"content":""}'],
  ['messages', 'n', `{"id":"n","sessionKey":"${TEST_VAULT_KEY}","content":[5]}`],
  ['messages', 'n', `{"id":"n","sessionKey":"no session’s","content":""}`],
  ['runs', 'r', '{"id":"r"}'],
  ['heads', TEST_VAULT_KEY, '{"headId":{},"updatedAt":1}'],
  ['heads', TEST_VAULT_KEY, '{"headId":"m","updatedAt":1,"key":"main/other"}'],
  ['sessions', TEST_VAULT_KEY, '{"title":5}'],
  ['sessions', 'nobody’s', '{"title":"x"}'],
];

it.each(INVALID_RECORDS)('one of %s that cannot be stored is left out and told, and the others come: %s', async (store, key, payload) => {
  const faults: unknown[] = [];
  await using vault = await createTestVault({ onfault: (error) => void faults.push(error) });
  const others = [
    record('sessions', TEST_VAULT_KEY, JSON.stringify(toSessionFields(newSession(TEST_VAULT_KEY, { title: 'Herons' }))), 1),
    record('messages', 'm', message, 2),
  ];
  const [first, last] = others as [SequencedRecord, SequencedRecord];
  await vault.sync.apply([first, record(store, key, payload, 3), last], null, false);
  expect(faults).toHaveLength(1);
  expect(String(faults[0])).toMatch(new RegExp(`^Error: Skipped a synced record of ${store}: it `));
  expect(await vault.vault.sessions.list()).toMatchObject([{ key: TEST_VAULT_KEY, title: 'Herons', messageCount: 1 }]);
});

it('the text that a run has so far says nothing new of its chat; its beginning and its end do', async () => {
  await using vault = await createTestVault();
  const faults: (string | undefined)[] = [];
  vault.vault.onRemoteChanges((changes) => faults.push(...changes.map(({ sessionKey }) => sessionKey)));
  for (const [at, change] of [{}, { partial: 'so' }, { partial: 'so far' }, { partial: '', status: 'done' as const, endedAt: 9 }].entries())
    await vault.sync.apply([record('runs', 'r', JSON.stringify(newRun('r', 'm', change)), at + 1)], null, false);
  expect(faults).toEqual([TEST_VAULT_KEY, undefined, undefined, TEST_VAULT_KEY]);
});
