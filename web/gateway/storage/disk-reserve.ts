import { StorageFullError } from './vault-errors.ts';

// Reserved space for a full disk: Chromium then refuses every `put`, whatever else a transaction deletes, so that neither the gateway could
// start nor a chat be deleted. It is stored in the Cache API, whose space is free at once when an entry is deleted (unlike IndexedDB's),
// and in pieces, so that one deletion does not use up all of it. `vault`: name of the database that it is for.

const PIECE_COUNT = 32;
const PIECE_BYTES = 64 * 1024;

/** Undefined if the page was loaded over plain HTTP from another machine. */
const openReserveCache = (vault: string): Promise<Cache> | undefined =>
  typeof caches === 'undefined' ? undefined : caches.open(`reserve-${vault}`);

/** Reserves missing pieces, as far as there is space. */
export async function fillReserve(vault: string): Promise<void> {
  const cache = await openReserveCache(vault);
  if (!cache) return;
  const existing = new Set((await cache.keys()).map(({ url }) => new URL(url).pathname));
  try {
    for (let piece = 0; piece < PIECE_COUNT; piece++) {
      const path = `/${piece}`;
      if (!existing.has(path)) await cache.put(path, new Response(new Uint8Array(PIECE_BYTES)));
    }
  } catch (error) {
    if (!(error instanceof DOMException) || error.name !== 'QuotaExceededError') throw error;
  }
}

/** Releases a piece. False if there is none. */
export async function releasePiece(vault: string): Promise<boolean> {
  const cache = await openReserveCache(vault);
  const [piece] = (await cache?.keys()) ?? [];
  return piece !== undefined && cache !== undefined && cache.delete(piece);
}

/**
 * Repeats `work` that failed for lack of space, releasing reserved pieces. Rejects like `work`, or with `StorageFullError` once the reserve is
 * used up.
 */
export async function withReserve<T>(vault: string, full: StorageFullError, work: () => Promise<T>): Promise<T> {
  let error: unknown = full;
  while (error instanceof StorageFullError && (await releasePiece(vault))) {
    try {
      return await work();
    } catch (retryError) {
      error = retryError;
    }
  }
  throw error;
}
