import { chmodSync, closeSync, openSync, rmSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { z } from '#shared/rpc/zod.ts';
import { position } from '#shared/ports/journal-port.ts';
import type { SubjectState } from '#shared/sync/nats/record-messages.ts';

const marksSchema = z.object({
  /** Creation time of the stream that this state belongs to. */
  stream: z.string(),
  /** Schema of the build that has read the stream. */
  schema: z.number(),
  /** Everything in the stream up to this sequence number is in the journal. */
  read: z.number(),
  /** Everything in the journal up to this position is in the stream. */
  sent: position.nullable(),
  /** A connection was lost while the cluster may have been in trouble: its servers may disagree about the messages that were read. */
  doubtful: z.boolean().default(false),
  /** The stream's leader at the last check. For a single server its id, which changes at every start. */
  leader: z.string().default(''),
  /** The stream has one server, so that a lost connection does not make its contents doubtful. */
  alone: z.boolean().default(false),
  /** Time of the last cleanup, in milliseconds since the Unix epoch. */
  cleaned: z.number().default(0),
});
type SyncMarks = z.infer<typeof marksSchema>;

const EMPTY_MARKS: SyncMarks = { stream: '', schema: 0, read: 0, sent: null, doubtful: false, leader: '', alone: false, cleaned: 0 };

/**
 * A bridge's progress in the stream. It can be rebuilt by reading the stream and sending everything, so it need not survive a power cut. It
 * must never claim more than is true, so it is written after the data that it describes.
 */
export class SyncState {
  readonly #db: DatabaseSync;
  readonly #selectKnown: StatementSync;
  readonly #upsertKnown: StatementSync;
  readonly #mark: StatementSync;
  marks: SyncMarks;

  /** A file that can't be read is recreated. */
  constructor(path: string) {
    try {
      this.#db = openStateFile(path);
    } catch {
      for (const file of [path, `${path}-wal`, `${path}-shm`]) rmSync(file, { force: true });
      this.#db = openStateFile(path);
    }
    this.#selectKnown = this.#db.prepare('SELECT seq, clock, included, object FROM subjects WHERE name = ?');
    this.#upsertKnown = this.#db.prepare('INSERT OR REPLACE INTO subjects (name, seq, clock, included, object) VALUES (?, ?, ?, ?, ?)');
    this.#mark = this.#db.prepare("INSERT OR REPLACE INTO meta (name, value) VALUES ('marks', ?)");
    this.marks = this.#read();
  }

  #read(): SyncMarks {
    const row = this.#db.prepare("SELECT value FROM meta WHERE name = 'marks'").get();
    const stored = typeof row?.value === 'string' ? marksSchema.safeParse(JSON.parse(row.value)) : undefined;
    return stored?.data ?? { ...EMPTY_MARKS };
  }

  /** Number of subjects known to hold a message. */
  get subjects(): number {
    return Number(this.#db.prepare('SELECT count(*) AS subjects FROM subjects').get()?.subjects);
  }

  getKnown(name: string): SubjectState | undefined {
    const row = this.#selectKnown.get(name);
    if (!row) return undefined;
    const included = String(row.included).split(' ').filter(Boolean);
    return { seq: Number(row.seq), clock: String(row.clock), included, object: row.object === null ? null : String(row.object) };
  }

  /** Iterates over the known subjects. */
  *listKnown(): IterableIterator<{ name: string; object: string | null }> {
    for (const { name, object } of this.#db.prepare('SELECT name, object FROM subjects').all())
      yield { name: String(name), object: object === null ? null : String(object) };
  }

  /** Whether an attachment was in the cluster within the last `ms` milliseconds. */
  hasBlob(hash: string, ms: number): boolean {
    return this.#db.prepare('SELECT 1 FROM attachments WHERE hash = ? AND at > ?').get(hash, Date.now() - ms) !== undefined;
  }

  addBlob(hash: string): void {
    this.#db.prepare('INSERT OR REPLACE INTO attachments (hash, at) VALUES (?, ?)').run(hash, Date.now());
  }

  /** Records subjects and marks in one transaction. */
  recordMarks(subjects: Iterable<readonly [string, SubjectState]>, changed: Partial<SyncMarks> = {}): void {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      for (const [name, { seq, clock, included, object }] of subjects) this.#upsertKnown.run(name, seq, clock, included.join(' '), object);
      const next = { ...this.marks, ...changed };
      if (Object.keys(changed).length > 0) this.#mark.run(JSON.stringify(next));
      this.#db.exec('COMMIT');
      this.marks = next;
    } finally {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
    }
  }

  /**
   * Resets the state, so that everything is read and sent again. It starts out doubtful: a server that lost messages may not send
   * everything that the leader has.
   */
  reset(stream: string, schema: number): void {
    this.#db.exec('DELETE FROM subjects; DELETE FROM attachments');
    this.recordMarks([], { stream, schema, read: 0, sent: null, doubtful: this.marks.stream !== '' });
  }

  close(): void {
    this.#db.close();
  }
}

function openStateFile(path: string): DatabaseSync {
  closeSync(openSync(path, 'a', 0o600));
  if (process.platform !== 'win32') chmodSync(path, 0o600);
  const db = new DatabaseSync(path);
  try {
    db.exec(`
      PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
      CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
      CREATE TABLE IF NOT EXISTS subjects (name TEXT PRIMARY KEY, seq INTEGER NOT NULL, clock TEXT NOT NULL, included TEXT NOT NULL, object TEXT) STRICT, WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS attachments (hash TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    `);
    // A file of an earlier build lacks this column.
    db.exec('SELECT included FROM subjects LIMIT 0');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
