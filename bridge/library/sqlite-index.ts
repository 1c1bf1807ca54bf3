import { chmodSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { z } from '#shared/rpc/zod.ts';
import type { IndexEntry } from '../../web/gateway/knowledge/memory/index/index-entry.ts';
import type { IndexStore, IndexedFile } from '../../web/gateway/knowledge/memory/index/index-store.ts';
import { MemoryCategory } from '../../web/gateway/knowledge/memory/long-term.ts';
import type { QuantizedVector } from '../../web/gateway/knowledge/memory/vectors/vector-rows.ts';
import type { VectorStore } from '../../web/gateway/knowledge/memory/vectors/passage-vectors.ts';
import { SIDE_FILES } from '../journal/journal-file.ts';

/** Format version. A file of another version is recreated. */
const VERSION = 3;
const BUSY_MS = 5000;
const SCHEMA = `
CREATE TABLE files (path TEXT PRIMARY KEY, size INTEGER NOT NULL, modified_at REAL NOT NULL, hash TEXT, lines INTEGER NOT NULL, is_cut INTEGER NOT NULL, broken INTEGER NOT NULL) STRICT;
CREATE TABLE passages (
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, path TEXT NOT NULL, line INTEGER NOT NULL, end_line INTEGER NOT NULL, kind TEXT NOT NULL, thread TEXT NOT NULL,
  text TEXT NOT NULL, category TEXT, at REAL, speaker TEXT, key TEXT
) STRICT;
CREATE INDEX passages_by_path ON passages (path, line);
CREATE VIRTUAL TABLE passages_fts USING fts5 (text, content = 'passages', content_rowid = 'number', tokenize = 'unicode61 remove_diacritics 2');
CREATE TRIGGER passage_added AFTER INSERT ON passages BEGIN INSERT INTO passages_fts (rowid, text) VALUES (new.number, new.text); END;
CREATE TRIGGER passage_removed AFTER DELETE ON passages BEGIN INSERT INTO passages_fts (passages_fts, rowid, text) VALUES ('delete', old.number, old.text); END;
CREATE TRIGGER passage_changed AFTER UPDATE OF text ON passages WHEN old.text IS NOT new.text BEGIN
  INSERT INTO passages_fts (passages_fts, rowid, text) VALUES ('delete', old.number, old.text);
  INSERT INTO passages_fts (rowid, text) VALUES (new.number, new.text);
END;
CREATE TABLE vectors (model TEXT NOT NULL, hash TEXT NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (model, hash)) STRICT, WITHOUT ROWID;
CREATE TABLE snapshot (number INTEGER PRIMARY KEY CHECK (number = 1), bytes BLOB NOT NULL) STRICT;
PRAGMA user_version = ${VERSION};
`;

const fileRowSchema = z.object({
  path: z.string(),
  size: z.number(),
  modifiedAt: z.number(),
  hash: z.string().nullable(),
  lines: z.number(),
  isCut: z.number().transform(Boolean),
  broken: z.number(),
});
const passageRowSchema = z.object({
  id: z.string(),
  kind: z.enum(['memory', 'note', 'day', 'message']),
  thread: z.string(),
  text: z.string(),
  category: z.enum(Object.values(MemoryCategory)).nullable(),
  path: z.string(),
  line: z.number(),
  end: z.number(),
  at: z.number().nullable(),
  speaker: z.string().nullable(),
  key: z.string().nullable(),
});

const SELECT_FILES = 'SELECT path, size, modified_at AS modifiedAt, hash, lines, is_cut AS isCut, broken FROM files';
const SELECT_PASSAGES =
  'SELECT id, kind, thread, text, category, path, line, end_line AS end, at, speaker, key FROM passages WHERE path = ? ORDER BY line, number';
const UPSERT_FILE = 'INSERT OR REPLACE INTO files (path, size, modified_at, hash, lines, is_cut, broken) VALUES (?, ?, ?, ?, ?, ?, ?)';
const UPSERT_PASSAGE = `INSERT INTO passages (id, path, line, end_line, kind, thread, text, category, at, speaker, key) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET path = excluded.path, line = excluded.line, end_line = excluded.end_line, kind = excluded.kind, thread = excluded.thread, text = excluded.text,
  category = excluded.category, at = excluded.at, speaker = excluded.speaker, key = excluded.key`;

/**
 * `memory.db`: the indexed files and their passages, with a full-text table (FTS5) that any SQLite program can query, and a snapshot of the
 * index that Perch searches. Everything can be rebuilt from the files, which happens if the file is damaged or of another version.
 */
export class SqliteIndex implements IndexStore, VectorStore {
  readonly #path: string;
  #connection: DatabaseSync | undefined;
  #isClosed = false;

  /** The file is opened on first use. */
  constructor(path: string) {
    this.#path = path;
  }

  get #db(): DatabaseSync {
    if (this.#isClosed) throw new Error(`${this.#path} was closed`);
    return (this.#connection ??= openIndex(this.#path));
  }

  async files(): Promise<IndexedFile[]> {
    return this.#all(SELECT_FILES).map((row) => fileRowSchema.parse(row));
  }

  async entries(path: string): Promise<IndexEntry[]> {
    return this.#all(SELECT_PASSAGES, path).map((row) => passageRowSchema.parse(row));
  }

  async put(
    file: IndexedFile,
    entries: readonly IndexEntry[],
    { removed, written }: { removed: readonly string[]; written: readonly IndexEntry[] },
  ): Promise<void> {
    const { path, size, modifiedAt, hash, lines, isCut, broken } = file;
    this.#transaction(() => {
      const remove = this.#db.prepare('DELETE FROM passages WHERE id = ? AND path = ?');
      for (const id of removed) remove.run(id, path);
      this.#write(written);
      // Another process has the file open too.
      if (this.#count(path) !== entries.length) {
        this.#db.prepare('DELETE FROM passages WHERE path = ?').run(path);
        this.#write(entries);
      }
      this.#db.prepare(UPSERT_FILE).run(path, size, modifiedAt, hash, lines, Number(isCut), broken);
    });
  }

  async remove(path: string): Promise<void> {
    this.#transaction(() => {
      this.#db.prepare('DELETE FROM passages WHERE path = ?').run(path);
      this.#db.prepare('DELETE FROM files WHERE path = ?').run(path);
    });
  }

  async snapshot(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const bytes = this.#db.prepare('SELECT bytes FROM snapshot').get()?.['bytes'];
    return bytes instanceof Uint8Array ? bytes : undefined;
  }

  async putSnapshot(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    this.#db.prepare('INSERT OR REPLACE INTO snapshot (number, bytes) VALUES (1, ?)').run(bytes);
  }

  async kept(model: string, hashes: readonly string[]): Promise<Map<string, QuantizedVector>> {
    const statement = this.#db.prepare('SELECT bytes FROM vectors WHERE model = ? AND hash = ?');
    return new Map(
      hashes.flatMap((hash) => {
        const bytes = statement.get(model, hash)?.['bytes'];
        return bytes instanceof Uint8Array ? [[hash, Int8Array.from(bytes, (byte) => (byte << 24) >> 24)] as const] : [];
      }),
    );
  }

  async keep(model: string, vectors: ReadonlyMap<string, QuantizedVector>): Promise<void> {
    this.#transaction(() => {
      const put = this.#db.prepare('INSERT OR REPLACE INTO vectors (model, hash, bytes) VALUES (?, ?, ?)');
      for (const [hash, vector] of vectors) put.run(model, hash, new Uint8Array(vector.buffer, vector.byteOffset, vector.length));
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#connection?.close();
    this.#connection = undefined;
  }

  #write(entries: readonly IndexEntry[]): void {
    const put = this.#db.prepare(UPSERT_PASSAGE);
    for (const { id, path, line, end, kind, thread, text, category, at, speaker, key } of entries)
      put.run(id, path, line, end, kind, thread, text, category, at, speaker, key);
  }

  #count(path: string): number {
    return Number(this.#db.prepare('SELECT count(*) AS count FROM passages WHERE path = ?').get(path)?.['count']);
  }

  #all(sql: string, ...values: SQLInputValue[]): unknown[] {
    return this.#db.prepare(sql).all(...values);
  }

  #transaction(work: () => void): void {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      work();
      this.#db.exec('COMMIT');
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      throw error;
    }
  }
}

function openIndex(path: string): DatabaseSync {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    return prepareDatabase(path);
  } catch (error) {
    if (!isCorrupt(error)) throw error;
    for (const file of [path, ...SIDE_FILES(path)]) rmSync(file, { force: true });
    return prepareDatabase(path);
  }
}

class VersionMismatchError extends Error {}

function prepareDatabase(path: string): DatabaseSync {
  const isNew = !existsSync(path);
  const db = new DatabaseSync(path, { timeout: BUSY_MS });
  try {
    if (isNew && process.platform !== 'win32') chmodSync(path, 0o600);
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
    db.exec('BEGIN IMMEDIATE');
    const version = Number(db.prepare('PRAGMA user_version').get()?.['user_version']);
    const isEmpty = db.prepare('SELECT 1 FROM sqlite_master').get() === undefined;
    if (isEmpty) db.exec(SCHEMA);
    else if (version !== VERSION) throw new VersionMismatchError(`${path} has version ${version}`);
    db.exec('COMMIT');
    if (db.prepare('PRAGMA quick_check(1)').get()?.['quick_check'] !== 'ok') throw new VersionMismatchError(`${path} is damaged`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** SQLITE_CORRUPT and SQLITE_NOTADB (sqlite.org/rescode.html). */
const isCorrupt = (error: unknown): boolean =>
  error instanceof VersionMismatchError ||
  (error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' && [11, 26].includes(error.errcode & 0xff));
