/** The data was written by a newer build; this one may only read it. */
export class VaultReadOnlyError extends Error {
  override name = 'VaultReadOnlyError';
}

/** The browser's storage is full: nothing of the write was stored. */
export class StorageFullError extends Error {
  override name = 'StorageFullError';
}

/** Another worker owns the data now: nothing of the write was stored. */
export class OwnershipLostError extends Error {
  override name = 'OwnershipLostError';
}
