import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { SequencedRecord } from '#shared/ports/journal-port.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import { SqliteJournal, type SqliteJournalOptions } from './sqlite-journal.ts';

export const KEY = 'k'.repeat(43);
export const DAY_MS = 24 * 60 * 60 * 1000;

/** A temporary folder that is removed on disposal. */
export function temporaryFolder(): { dir: string; file: string; [Symbol.dispose](): void } {
  const dir = mkdtempSync(join(tmpdir(), 'perch-journal-'));
  chmodSync(dir, 0o700);
  return {
    dir,
    file: join(dir, 'journal.sqlite'),
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }),
  };
}

export const readMode = (path: string): string => (statSync(path).mode & 0o777).toString(8);

/** A timestamp of `origin`'s clock. */
export const createClock = (wall: number, origin = 'a'): string => `${String(wall).padStart(15, '0')}-0000-${origin}`;

/** A version of a record, at a time of its writer's clock. */
export function createVersion(key: string, wall: number, origin = 'a', overrides: Partial<SyncRecord> = {}): SyncRecord {
  return {
    store: 'messages',
    key,
    clock: createClock(wall, origin),
    seal: 'none',
    payload: JSON.stringify({ key, wall, origin }),
    ...overrides,
  };
}

export const createVersions = (count: number, origin = 'a', overrides: Partial<SyncRecord> = {}): SyncRecord[] =>
  Array.from({ length: count }, (_, index) => createVersion(`${origin}${index}`, 1000 + index, origin, overrides));

type TestCore = SqliteJournal & { received: { changed: number[]; replaced: string[] }; [Symbol.dispose](): void };

/** The engine without its thread, with the events that it emitted. */
export function openCore(options: Partial<SqliteJournalOptions> & { dir: string }): TestCore {
  const received: TestCore['received'] = { changed: [], replaced: [] };
  const journal = new SqliteJournal({
    vaultKey: KEY,
    onchanged: (head) => received.changed.push(head),
    onreplaced: (reason) => received.replaced.push(reason),
    ...options,
  });
  let open = true;
  const close = (): void => {
    if (open) SqliteJournal.prototype.close.call(journal);
    open = false;
  };
  return Object.assign(journal, { received, close, [Symbol.dispose]: close });
}

/** Runs one task. Throws its error. */
export function runTask<T>(journal: SqliteJournal, task: () => T): T {
  const [outcome] = journal.commit([task]);
  if (!outcome || 'error' in outcome) throw outcome?.error ?? new Error('no outcome');
  return outcome.value;
}

export const pushRecords = (
  journal: SqliteJournal,
  records: readonly SyncRecord[],
  pusher = 'a',
  schema?: number,
): ReturnType<SqliteJournal['push']> => runTask(journal, () => journal.push(records, pusher, schema));

/** Reads all records after a sequence number, page by page. */
export function pullAll(
  journal: SqliteJournal,
  { after = 0, limit = 1000, except }: { after?: number; limit?: number; except?: string } = {},
): SequencedRecord[] {
  const all: SequencedRecord[] = [];
  for (let from = after; ;) {
    const { records, next, head } = journal.pull(from, limit, except);
    all.push(...records);
    if (next >= head) return all;
    from = next;
  }
}

/** Contents of records, sorted and without sequence numbers. */
export const readContents = (records: readonly SequencedRecord[]): SyncRecord[] =>
  records.map(({ seq: _, ...record }) => record).sort((a, b) => (`${a.store}/${a.key}` < `${b.store}/${b.key}` ? -1 : 1));

/** Changes the file through a separate connection. */
export function changeFileDirectly(file: string, work: (db: DatabaseSync) => void): void {
  const db = new DatabaseSync(file, { timeout: 5000 });
  try {
    work(db);
  } finally {
    db.close();
  }
}
