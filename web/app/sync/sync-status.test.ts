import 'fake-indexeddb/auto';
import { openDB } from 'idb';
import { describe, expect, test } from 'vitest';
import type { HostStatus } from '#shared/ports/host-api.ts';
import type { AttachedHost } from '#shared/ports/journal-info.ts';
import type { SyncState } from '#shared/rpc/methods/sync-contracts.ts';
import { verifies } from '../../../tests/requirements.ts';
import { Database } from '../../gateway/storage/database.ts';
import { migrations } from '../../gateway/storage/migrations.ts';
import { NO_SYNC, isOutdated, findOwnHost, isUnfit } from './host-sync.ts';
import { formatAgo } from '#kit/format-ago.ts';
import { getConflictTexts } from '#features/devices/device-labels.ts';
import { explainSyncStatus } from '#features/devices/explain-sync.ts';
import { getOutdatedText } from './outdated-text.ts';
import { computePercent, getSyncStatus } from './sync-status.ts';

const sync = (change: Partial<SyncState>): SyncState => ({ ...NO_SYNC, ...change });
const host = (change: Partial<HostStatus> = {}): HostStatus => ({
  state: 'serving',
  uplink: 'attached',
  problem: null,
  sync: NO_SYNC,
  ...change,
});

describe('the dot', () => {
  test.each<[string, boolean, HostStatus | null, Partial<SyncState> | null, string, string]>([
    ['unlinked', false, host({ uplink: 'off' }), { state: 'off' }, '', 'Saved in this browser only'],
    ['not known yet', true, null, null, '', 'Checking sync status'],
    ['synced', true, host(), { state: 'synced' }, 'good', 'Saved in this browser and on disk'],
    [
      'synced with the cluster while Perch is stopped',
      true,
      host({ uplink: 'connecting', cluster: { servers: [], from: 'bridge', state: 'attached', problem: null } }),
      { state: 'synced' },
      'good',
      'Saved in this browser and synced',
    ],
    [
      'synced with the disk, beside a cluster',
      true,
      host({ cluster: { servers: [], from: 'bridge', state: 'resting', problem: null } }),
      { state: 'synced' },
      'good',
      'Saved in this browser and on disk',
    ],
    ['catching up', true, host(), { state: 'catching-up', progress: { done: 1, total: 3 } }, 'warn', 'Syncing with disk, 33%'],
    ['catching up, from where nobody knows', true, host(), { state: 'catching-up' }, 'warn', 'Syncing with disk'],
    ['away', true, host(), { state: 'away' }, 'warn', 'Saved in this browser, local service offline'],
    ['away, one change', true, host(), { state: 'away', pending: 1 }, 'warn', 'Saved in this browser, 1 change not yet on disk'],
    ['away, many changes', true, host(), { state: 'away', pending: 1200 }, 'warn', 'Saved in this browser, 1,200 changes not yet on disk'],
    ['failing', true, host(), { state: 'failing' }, 'bad', 'Saved in this browser, can’t write to disk'],
    [
      'outdated',
      true,
      host({ sync: sync({ state: 'outdated' }) }),
      { state: 'outdated' },
      'bad',
      'This browser runs an older version of Perch and is read-only',
    ],
    ['without room', true, host({ state: 'failed', problem: 'No room left' }), null, 'bad', 'This browser has no copy of your data'],
  ])('%s', (_name, linked, status, state, tone, title) => {
    expect(getSyncStatus(linked, status, state && sync(state))).toMatchObject({ tone, title });
  });

  test('each failure has its own text', () => {
    expect(explainSyncStatus(getSyncStatus(true, host(), sync({ state: 'failing', problem: 'The disk is full' }))).details).toMatch(
      /^The disk is full\. /,
    );
    expect(explainSyncStatus(getSyncStatus(true, host({ state: 'failed', problem: 'No room left' }), null)).details).toMatch(
      /^No room left\. /,
    );
  });
});

verifies('vault.app/told', 'distinguishes a worker with data of a newer build from other failures', async () => {
  (await openDB('too-new', 9999)).close();
  const problem: string = await new Database({ name: 'too-new', migrations })
    .read(['sessions'], async () => {})
    .then(
      () => '',
      (error: unknown) => (error instanceof Error ? error.message : ''),
    );
  const failed = host({ state: 'failed', problem });
  expect([isOutdated(failed), isUnfit(failed)]).toEqual([true, true]);
  const other = host({ state: 'failed', problem: 'The browser is out of storage. Nothing was saved.' });
  expect([isOutdated(other), isUnfit(other)]).toEqual([false, true]);
  expect([isOutdated(host()), isUnfit(host()), isUnfit(null)]).toEqual([false, false, false]);
  expect(getOutdatedText(failed, null).waiting).toContain('Your data is safe');
  expect(getOutdatedText(host(), sync({ pending: 1 })).waiting).toContain('1 change made in this browser will be saved');
  expect(getOutdatedText(host(), sync({ pending: 2 })).waiting).toContain('2 changes made in this browser will be saved');
});

test('this browser among the hosts', () => {
  const hosts: AttachedHost[] = [
    { origin: 'a', kind: 'headless', build: 'b', name: '', since: 0, ready: true, holder: false },
    { origin: 'b', kind: 'tab', build: 'b', name: '', since: 0, ready: true, holder: false },
    { origin: 'c', kind: 'tab', build: 'b', name: '', since: 0, ready: true, holder: true },
  ];
  expect(findOwnHost(hosts, host({ origin: 'b' }))?.origin).toBe('b');
  expect(findOwnHost(hosts, host({ origin: 'b', uplink: 'connecting' }))).toBeUndefined();
  expect(findOwnHost(hosts, host({ sync: sync({ role: 'holder' }) }))?.origin).toBe('c');
  expect(findOwnHost(hosts, host({ sync: sync({ role: 'replica' }) }))).toBeUndefined();
  expect(findOwnHost(hosts.slice(0, 2), host({ sync: sync({ role: 'replica' }) }))?.origin).toBe('b');
});

test.each([
  [-5_000, 'just now'],
  [0, 'just now'],
  [59_999, 'just now'],
  [60_000, '1 minute ago'],
  [3 * 3_600_000, '3 hours ago'],
  [24 * 3_600_000, 'yesterday'],
  [9 * 24 * 3_600_000, '9 days ago'],
  [59 * 24 * 3_600_000, 'last month'],
  [6.2 * 365 * 24 * 3_600_000, '6 years ago'],
])('%i ms back is %s', (back, words) => expect(formatAgo(1e12 - back, 1e12)).toBe(words));

test.each([
  [null, null],
  [{ done: 0, total: 0 }, null],
  [{ done: 0, total: 10 }, 0],
  [{ done: 999, total: 1000 }, 99],
  [{ done: 1200, total: 1000 }, 100],
])('progress %j is %s percent', (progress, percent) => expect(computePercent(sync({ progress }))).toBe(percent));

test('what was deleted here and changed there is offered back', () => {
  expect(getConflictTexts({ kind: 'memory', kept: null })).toMatchObject({ keep: 'Keep deleted', restore: 'Restore' });
  expect(getConflictTexts({ kind: 'memory', kept: 'x' })).toMatchObject({ keep: 'Keep current', restore: 'Use other version' });
  expect(getConflictTexts({ kind: 'branch', kept: 'x' })).toMatchObject({ keep: 'Dismiss', restore: 'Open other branch' });
});
