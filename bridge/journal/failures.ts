import { JournalFailed, JournalFull } from './journal.ts';

/** The file is damaged, as detected by SQLite or the journal itself. */
export class Damaged extends Error {
  override name = 'Damaged';
}

// Primary result codes (sqlite.org/rescode.html): the lower byte of extended ones.
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_NOTADB = 26;

export const isDamage = (error: unknown): boolean =>
  error instanceof Damaged || [SQLITE_CORRUPT, SQLITE_NOTADB].includes(primaryCode(error) ?? 0);

/**
 * Converts an error for callers. An I/O error while writing counts as a full disk: nothing was stored, and the next attempt may succeed.
 */
export function failureOf(error: unknown, writing: boolean): JournalFull | JournalFailed {
  if (error instanceof JournalFull || error instanceof JournalFailed) return error;
  const code = primaryCode(error);
  const full = code === SQLITE_FULL || (writing && code === SQLITE_IOERR) || codeOf(error) === 'ENOSPC';
  const reason = reasonOf(error);
  return full ? new JournalFull(reason, { cause: error }) : new JournalFailed(reason, { cause: error });
}

/** The error's message on one line. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ');

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

function primaryCode(error: unknown): number | undefined {
  const isSqlite = error instanceof Error && 'errcode' in error && typeof error.errcode === 'number';
  return isSqlite ? (error.errcode as number) & 0xff : undefined;
}
