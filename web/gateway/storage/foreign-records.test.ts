import { expect, it } from 'vitest';
import type { SequencedRecord } from '#shared/ports/journal.ts';
import type { SyncStore } from '#shared/sync/record.ts';
import { KEY, newMessage, newRun, newSession, testVault } from './fixture.ts';
import { entryPart } from './session-parts.ts';

const record = (store: SyncStore, key: string, payload: string, seq: number): SequencedRecord => ({
  store,
  key,
  clock: `99999999999999${seq % 10}-${String(seq).padStart(4, '0')}-there`,
  seal: 'none',
  payload,
  seq,
});

const DEEP = `{"id":"deep","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
const message = JSON.stringify(newMessage('m', null, { content: 'hello' }));
const CANNOT_BE: readonly [store: SyncStore, key: string, payload: string][] = [
  ['memories', 'deep', DEEP],
  ['memories', 'a', '{"id":"b"}'],
  ['memories', 'a', '5'],
  ['memories', 'a', '[]'],
  ['plans', 'a', '{}'],
  ['config', 'chat', '{"id":"chat"}'],
  ['messages', 'n', '{"id":"n","sessionKey":5,"content":""}'],
  ['messages', 'n', `{"id":"n","sessionKey":"${KEY}","content":[5]}`],
  ['messages', 'n', `{"id":"n","sessionKey":"no session’s","content":""}`],
  ['runs', 'r', '{"id":"r"}'],
  ['heads', KEY, '{"headId":{},"updatedAt":1}'],
  ['heads', KEY, '{"headId":"m","updatedAt":1,"key":"main/other"}'],
  ['sessions', KEY, '{"title":5}'],
  ['sessions', 'nobody’s', '{"title":"x"}'],
];

it.each(CANNOT_BE)('one of %s that cannot be stored is left out and told, and the others come: %s', async (store, key, payload) => {
  const faults: unknown[] = [];
  await using vault = await testVault({ onfault: (error) => void faults.push(error) });
  const others = [
    record('sessions', KEY, JSON.stringify(entryPart(newSession(KEY, { title: 'Herons' }))), 1),
    record('messages', 'm', message, 2),
  ];
  const [first, last] = others as [SequencedRecord, SequencedRecord];
  await vault.sync.apply([first, record(store, key, payload, 3), last], null, false);
  expect(faults).toHaveLength(1);
  expect(String(faults[0])).toMatch(new RegExp(`^Error: Skipped a synced record of ${store}: it `));
  expect(await vault.vault.sessions.list()).toMatchObject([{ key: KEY, title: 'Herons', messageCount: 1 }]);
});

it('the text that a run has so far says nothing new of its chat; its beginning and its end do', async () => {
  await using vault = await testVault();
  const told: (string | undefined)[] = [];
  vault.vault.onforeign((changes) => told.push(...changes.map(({ sessionKey }) => sessionKey)));
  for (const [at, change] of [{}, { partial: 'so' }, { partial: 'so far' }, { partial: '', status: 'done' as const, endedAt: 9 }].entries())
    await vault.sync.apply([record('runs', 'r', JSON.stringify(newRun('r', 'm', change)), at + 1)], null, false);
  expect(told).toEqual([KEY, undefined, undefined, KEY]);
});
