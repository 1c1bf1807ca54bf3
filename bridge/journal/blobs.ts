import { createHash } from 'node:crypto';
import { JournalError } from './journal.ts';
import type { JournalTables } from './journal-tables.ts';

/** SHA-256 in hex. */
export const computeSha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Stores an attachment, within a transaction. If it exists, its retention period restarts. Throws if the bytes do not have the hash. */
export function putBlob(tables: JournalTables, hash: string, bytes: Uint8Array, now: number): void {
  if (computeSha256(bytes) !== hash) throw new JournalError('The attachment doesn’t match its SHA-256');
  tables.sql('INSERT OR REPLACE INTO blobs (hash, at, bytes) VALUES (?, ?, ?)').run(hash, now, bytes);
}

/** Returns the bytes; `damaged` if they differ from the stored ones. */
export function getBlob(tables: JournalTables, hash: string): Uint8Array | 'damaged' | undefined {
  const bytes = tables.sql('SELECT bytes FROM blobs WHERE hash = ?').get(hash)?.bytes;
  if (bytes === undefined) return undefined;
  return bytes instanceof Uint8Array && computeSha256(bytes) === hash ? bytes : 'damaged';
}
