import { StorageFull } from '../core/vault.ts';

/**
 * Room that is set aside (fill-reserve.ts), for where there is no other left: Chromium refuses every `put` then, whatever else a transaction deletes, and so neither
 * could the gateway start nor a chat be deleted. It lies in the browser's cache, whose room is free at once when an entry goes (IndexedDB's is not for a long while),
 * in pieces, so that one deletion does not use up what the next one needs. `vault`: the name of the database that it is for.
 */
export const reserveOf = (vault: string): string => `reserve-${vault}`;

/** Not where the page came over plain HTTP from another machine. */
export const hasCaches = (): boolean => typeof caches !== 'undefined';

/** Gives a piece of the reserve back. False where there is none. */
export async function spendReserve(vault: string): Promise<boolean> {
  if (!hasCaches()) return false;
  const cache = await caches.open(reserveOf(vault));
  const [piece] = await cache.keys();
  return piece !== undefined && cache.delete(piece);
}

/** Does what needs little room and must not fail for want of it. Rejects as it does; with `StorageFull` once the reserve is used up too. */
export async function withReserve<T>(vault: string, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StorageFull) || !(await spendReserve(vault))) throw error;
    }
  }
}
