import { expect, test, vi } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import type { LogRecord } from './records/log-record.ts';
import { readChangeLog, createTestVault } from './fixture.ts';
import { acquireEpoch } from './open-vault.ts';

const lines = (from: number, count: number): LogRecord[] =>
  Array.from({ length: count }, (_, at) => ({ seq: from + at, at: 1_000, level: 'info', component: 'test', message: `line ${from + at}` }));

verifies('logs/ring', 'the newest 10,000 lines stay, at most some hundreds more, and none is in the change log', async () => {
  await using vault = await createTestVault();
  for (let seq = 1; seq <= 12_345; seq += 823) await vault.logs.append(lines(seq, 823));
  const span = await vault.logs.span();
  expect(span?.last).toBe(12_345);
  const retainedCount = 12_345 - (span?.first ?? 0) + 1;
  expect(retainedCount).toBeGreaterThanOrEqual(10_000);
  expect(retainedCount).toBeLessThan(11_500);
  expect(await readChangeLog(vault.name)).toEqual([]);
});

test('ranges are read by number, and none from an empty log', async () => {
  await using vault = await createTestVault();
  expect(await vault.logs.span()).toBeNull();
  expect(await vault.logs.range(1, 1, 10)).toEqual([]);
  await vault.logs.append(lines(1, 10));
  expect((await vault.logs.range(3, 8, 3)).map(({ seq }) => seq)).toEqual([3, 4, 5]);
  expect((await vault.logs.range(3, 5, 10)).map(({ seq }) => seq)).toEqual([3, 4]);
});

test('a check of writing writes and reads, and rejects where that is not possible', async () => {
  const name = 'check-writing';
  await using vault = await createTestVault({ name, epoch: await acquireEpoch(name) });
  await vault.check();
  await vault.check();
  expect(await readChangeLog(name)).toEqual([]);
  const put = vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(() => {
    throw new DOMException('full', 'QuotaExceededError');
  });
  await expect(vault.check()).rejects.toMatchObject({ name: 'StorageFullError' });
  put.mockRestore();
  await vault.check();
  await acquireEpoch(name);
  await expect(vault.check()).rejects.toMatchObject({ name: 'OwnershipLostError' });
});
