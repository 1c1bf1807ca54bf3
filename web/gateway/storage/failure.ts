import { StorageFull } from '../core/vault.ts';

const nameOf = (error: unknown): string => (error instanceof Error || error instanceof DOMException ? error.name : '');

/**
 * Chromium's errors on a full disk. The write that meets it first closes the connection; until there is space, opening the
 * database fails, for reading too.
 */
const DISK_FULL = /FILE_ERROR_NO_SPACE|Internal error opening backing store|full disk/;

/** Converts a browser's error to `StorageFull` if a quota or the disk is full; returns any other error as it is. */
export function storageFailure(error: unknown): unknown {
  const name = nameOf(error);
  const isKnown = error instanceof Error || error instanceof DOMException;
  if (isKnown && (name === 'UnknownError' || name === 'QuotaExceededError') && DISK_FULL.test(error.message))
    return new StorageFull('The disk is full, or the browser can’t open its storage. Nothing was saved.', { cause: error });
  if (name === 'QuotaExceededError') return new StorageFull('The browser is out of storage. Nothing was saved.', { cause: error });
  return error;
}

/** The connection was closed before the transaction could begin. */
export const isClosedConnection = (error: unknown): boolean => nameOf(error) === 'InvalidStateError';

/**
 * An abort that nobody here asked for, with a reason that a fresh connection may cure: a forced close leaves none, or one
 * of these names. Quota, constraints and bad data are not among them.
 */
export const isLostConnection = (reason: unknown): boolean =>
  reason == null || ['AbortError', 'InvalidStateError', 'UnknownError'].includes(nameOf(reason));

/** The database was closed by force while it was opened. */
export const isCutOpening = (error: unknown): boolean => nameOf(error) === 'AbortError';

/** The database on disk was made by a newer build. */
export const isVersionError = (error: unknown): boolean => nameOf(error) === 'VersionError';
