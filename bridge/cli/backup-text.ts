import type { SyncStore } from '#shared/sync/record.ts';
import type { Manifest } from '../backup/backup-format.ts';
import type { StoreChanges, RestorePlan } from '../backup/restore-backup.ts';

const formatNumber = new Intl.NumberFormat('en');
export const formatCount = (count: number, word: string): string => `${formatNumber.format(count)} ${word}${count === 1 ? '' : 's'}`;

/** `1,234 records, 5 attachments, 2 keys`. */
export function formatBackupCounts({ records, blobs, secrets }: Manifest['counts']): string {
  const sum = Object.values(records).reduce((total, count) => total + count, 0);
  return [formatCount(sum, 'record'), formatCount(blobs, 'attachment'), ...(secrets > 0 ? [formatCount(secrets, 'key')] : [])].join(', ');
}

export const formatSize = (bytes: number): string =>
  bytes < 1024 * 1024
    ? `${formatNumber.format(Math.ceil(bytes / 1024))} KB`
    : `${formatNumber.format(Math.ceil(bytes / 1024 / 102.4) / 10)} MB`;

const CHANGE_COLUMNS = [
  ['added', 'New'],
  ['changed', 'Changed'],
  ['unchanged', 'Unchanged'],
  ['removed', 'Removed'],
] as const satisfies [keyof StoreChanges, string][];

/** Table of a restore's changes, by store. */
export function formatChangesTable({ stores, blobs }: RestorePlan): string {
  const line = (name: string, cells: readonly string[]): string => `${name.padEnd(12)}${cells.map((cell) => cell.padStart(11)).join('')}`;
  const rows = (Object.entries(stores) as [SyncStore, StoreChanges][])
    .filter(([, changes]) => Object.values(changes).some((count) => count > 0))
    .map(([store, changes]) =>
      line(
        store,
        CHANGE_COLUMNS.map(([column]) => formatNumber.format(changes[column])),
      ),
    );
  const attachments = blobs.length > 0 ? [line('attachments', [formatNumber.format(blobs.length)])] : [];
  return [
    line(
      '',
      CHANGE_COLUMNS.map(([, heading]) => heading),
    ),
    ...rows,
    ...attachments,
  ].join('\n');
}
