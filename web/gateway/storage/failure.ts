import { StorageFull } from '../core/vault.ts';

const nameOf = (error: unknown): string => (error instanceof Error || error instanceof DOMException ? error.name : '');

/** Says a browser's error in the vault's words: no room left is `StorageFull`; anything else stays as it is. */
export function storageFailure(error: unknown): unknown {
  if (nameOf(error) !== 'QuotaExceededError') return error;
  return new StorageFull('The browser is out of storage. Nothing was saved.', { cause: error });
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
