import { hasCaches, reserveOf } from './reserve.ts';

const PIECES = 32;
const PIECE_BYTES = 64 * 1024;

/** Sets aside what is missing of the reserve (reserve.ts), as far as there is room. `vault`: the name of the database that it is for. */
export async function fillReserve(vault: string): Promise<void> {
  if (!hasCaches()) return;
  const cache = await caches.open(reserveOf(vault));
  try {
    for (let piece = 0; piece < PIECES; piece++) {
      const path = `/${piece}`;
      if (!(await cache.match(path))) await cache.put(path, new Response(new Uint8Array(PIECE_BYTES)));
    }
  } catch (error) {
    if (!(error instanceof DOMException) || error.name !== 'QuotaExceededError') throw error;
  }
}
