import { StorageFull } from '../core/vault.ts';

// Room that is set aside, for where there is no other left: Chromium refuses every `put` then, whatever else a transaction deletes, and so neither could the gateway
// start nor a chat be deleted. It lies in the browser's cache, whose room is free at once when an entry goes (IndexedDB's is not for a long while), in pieces, so
// that one deletion does not use up what the next one needs. `vault`: the name of the database that it is for.

const PIECES = 32;
const PIECE_BYTES = 64 * 1024;

/** Undefined where the page came over plain HTTP from another machine. */
const openReserve = (vault: string): Promise<Cache> | undefined =>
  typeof caches === 'undefined' ? undefined : caches.open(`reserve-${vault}`);

/** Sets aside what is missing, as far as there is room. */
export async function fillReserve(vault: string): Promise<void> {
  const cache = await openReserve(vault);
  if (!cache) return;
  const there = new Set((await cache.keys()).map(({ url }) => new URL(url).pathname));
  try {
    for (let piece = 0; piece < PIECES; piece++) {
      const path = `/${piece}`;
      if (!there.has(path)) await cache.put(path, new Response(new Uint8Array(PIECE_BYTES)));
    }
  } catch (error) {
    if (!(error instanceof DOMException) || error.name !== 'QuotaExceededError') throw error;
  }
}

/** Gives a piece back. False where there is none. */
export async function spendReserve(vault: string): Promise<boolean> {
  const cache = await openReserve(vault);
  const [piece] = (await cache?.keys()) ?? [];
  return piece !== undefined && cache !== undefined && cache.delete(piece);
}

/** Does what found no room again, with what is set aside. Rejects as it does; with `StorageFull` once that is used up too. */
export async function withReserve<T>(vault: string, full: StorageFull, work: () => Promise<T>): Promise<T> {
  let error: unknown = full;
  while (error instanceof StorageFull && (await spendReserve(vault))) {
    try {
      return await work();
    } catch (again) {
      error = again;
    }
  }
  throw error;
}
