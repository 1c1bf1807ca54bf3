import { StorageFullError } from './vault-interface.ts';

const getErrorName = (error: unknown): string => (error instanceof Error || error instanceof DOMException ? error.name : '');

/**
 * Chromium's errors for a full disk. The first failing write closes the connection; until there is space, opening the database fails, even
 * for reading.
 */
const DISK_FULL_PATTERN = /FILE_ERROR_NO_SPACE|Internal error opening backing store|full disk/;

/** Converts a browser's error to `StorageFullError` if a quota or the disk is full; returns any other error as it is. */
export function toStorageError(error: unknown): unknown {
  const name = getErrorName(error);
  const isKnown = error instanceof Error || error instanceof DOMException;
  if (isKnown && (name === 'UnknownError' || name === 'QuotaExceededError') && DISK_FULL_PATTERN.test(error.message))
    return new StorageFullError('The disk is full, or the browser can’t open its storage. Nothing was saved.', { cause: error });
  if (name === 'QuotaExceededError') return new StorageFullError('The browser is out of storage. Nothing was saved.', { cause: error });
  return error;
}

/** The connection was closed before the transaction could begin. */
export const isClosedConnection = (error: unknown): boolean => getErrorName(error) === 'InvalidStateError';

/**
 * Whether an abort that was not requested here may be cured by a new connection: a forced close gives no reason, or one of these names.
 * Quota, constraint and data errors are not among them.
 */
export const isLostConnection = (reason: unknown): boolean =>
  reason == null || ['AbortError', 'InvalidStateError', 'UnknownError'].includes(getErrorName(reason));

/** The database was closed by force while it was opening. */
export const isInterruptedOpening = (error: unknown): boolean => getErrorName(error) === 'AbortError';

/** The database on disk was created by a newer build. */
export const isVersionError = (error: unknown): boolean => getErrorName(error) === 'VersionError';
