import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { JournalInfo } from '#shared/ports/journal-info.ts';
import { SIDE_FILES } from './journal-file.ts';
import type { JournalTables } from './journal-tables.ts';

/** Facts about the journal on disk, for display. */
export function getJournalInfo(tables: JournalTables, path: string): JournalInfo {
  tables.reload();
  const { id, head, schema } = tables.meta;
  const getRow = (sql: string): Record<string, unknown> => tables.sql(sql).get() ?? {};
  const { records } = getRow('SELECT count(*) AS records FROM records');
  const { tombstones } = getRow('SELECT count(*) AS tombstones FROM records WHERE deleted = 1');
  const { blobs, blobBytes } = getRow('SELECT count(*) AS blobs, sum(length(bytes)) AS blobBytes FROM blobs');
  const { at } = getRow('SELECT at FROM records ORDER BY seq DESC LIMIT 1');
  const notices = tables.sql('SELECT at, message FROM notices ORDER BY number').all();
  return {
    id,
    path,
    bytes: [path, ...SIDE_FILES(path)].reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0),
    head,
    schema,
    records: Number(records) - Number(tombstones),
    tombstones: Number(tombstones),
    blobs: Number(blobs),
    blobBytes: Number(blobBytes ?? 0),
    changedAt: at === undefined ? null : Number(at),
    notices: notices.map((notice) => ({ at: Number(notice.at), message: String(notice.message) })),
    free: getFreeBytes(dirname(path)),
  };
}

function getFreeBytes(dir: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(dir);
    return bavail * bsize;
  } catch {
    return null;
  }
}
