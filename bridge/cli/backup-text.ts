import type { SyncStore } from '#shared/sync/record.ts';
import type { Manifest } from '../backup/format.ts';
import type { Changes, RestorePlan } from '../backup/restore.ts';

const number = new Intl.NumberFormat('en');
export const several = (count: number, word: string): string => `${number.format(count)} ${word}${count === 1 ? '' : 's'}`;

/** `1,234 records, 5 attachments, 2 keys`. */
export function countsOf({ records, blobs, secrets }: Manifest['counts']): string {
  const sum = Object.values(records).reduce((total, count) => total + count, 0);
  return [several(sum, 'record'), several(blobs, 'attachment'), ...(secrets > 0 ? [several(secrets, 'key')] : [])].join(', ');
}

export const sizeText = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${number.format(Math.ceil(bytes / 1024))} KB` : `${number.format(Math.ceil(bytes / 1024 / 102.4) / 10)} MB`;

const COLUMNS = [
  ['added', 'New'],
  ['changed', 'Changed'],
  ['unchanged', 'Unchanged'],
  ['removed', 'Removed'],
] as const satisfies [keyof Changes, string][];

/** Table of a restore's changes, by store. */
export function changesTable({ stores, blobs }: RestorePlan): string {
  const line = (name: string, cells: readonly string[]): string => `${name.padEnd(12)}${cells.map((cell) => cell.padStart(11)).join('')}`;
  const rows = (Object.entries(stores) as [SyncStore, Changes][])
    .filter(([, changes]) => Object.values(changes).some((count) => count > 0))
    .map(([store, changes]) =>
      line(
        store,
        COLUMNS.map(([column]) => number.format(changes[column])),
      ),
    );
  const attachments = blobs.length > 0 ? [line('attachments', [number.format(blobs.length)])] : [];
  return [
    line(
      '',
      COLUMNS.map(([, heading]) => heading),
    ),
    ...rows,
    ...attachments,
  ].join('\n');
}
