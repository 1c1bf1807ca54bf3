import { JournalError, JournalFullError } from './journal.ts';

/** The file is damaged, as detected by SQLite or the journal itself. */
export class DamagedJournalError extends Error {
  override name = 'DamagedJournalError';
}

// Primary result codes (sqlite.org/rescode.html): the lower byte of extended ones.
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_NOTADB = 26;

export const isDamage = (error: unknown): boolean =>
  error instanceof DamagedJournalError || [SQLITE_CORRUPT, SQLITE_NOTADB].includes(getPrimaryCode(error) ?? 0);

/**
 * Converts an error for callers. An I/O error while writing counts as a full disk: nothing was stored, and the next attempt may succeed.
 */
export function toJournalError(error: unknown, writing: boolean): JournalFullError | JournalError {
  if (error instanceof JournalFullError || error instanceof JournalError) return error;
  const code = getPrimaryCode(error);
  const full = code === SQLITE_FULL || (writing && code === SQLITE_IOERR) || getErrorCode(error) === 'ENOSPC';
  const reason = describeError(error);
  return full ? new JournalFullError(reason, { cause: error }) : new JournalError(reason, { cause: error });
}

/** The error's message on one line. */
export const describeError = (error: unknown): string => (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ');

const getErrorCode = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

function getPrimaryCode(error: unknown): number | undefined {
  const isSqlite = error instanceof Error && 'errcode' in error && typeof error.errcode === 'number';
  return isSqlite ? (error.errcode as number) & 0xff : undefined;
}
