import { JournalFailed, JournalFull } from './journal.ts';

/** The file is not what was written: found out by SQLite or by the journal itself. */
export class Damaged extends Error {
  override name = 'Damaged';
}

// Result codes (sqlite.org/rescode.html); the lower byte of an extended one.
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_NOTADB = 26;

export const isDamage = (error: unknown): boolean =>
  error instanceof Damaged || [SQLITE_CORRUPT, SQLITE_NOTADB].includes(primaryCode(error) ?? 0);

/** What went wrong, for callers. An input/output error while writing counts as no room: nothing was stored, and the next try may do better. */
export function failureOf(error: unknown, writing: boolean): JournalFull | JournalFailed {
  if (error instanceof JournalFull || error instanceof JournalFailed) return error;
  const code = primaryCode(error);
  const full = code === SQLITE_FULL || (writing && code === SQLITE_IOERR) || codeOf(error) === 'ENOSPC';
  const reason = reasonOf(error);
  return full ? new JournalFull(reason, { cause: error }) : new JournalFailed(reason, { cause: error });
}

/** In one line. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ');

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

function primaryCode(error: unknown): number | undefined {
  const isSqlite = error instanceof Error && 'errcode' in error && typeof error.errcode === 'number';
  return isSqlite ? (error.errcode as number) & 0xff : undefined;
}
