import { StorageFull } from '../core/vault.ts';

const PIECES = 32;
const PIECE_BYTES = 64 * 1024;

/**
 * Room that is set aside, for where there is no other left: Chromium refuses every `put` then, whatever else a transaction deletes, and so neither could the
 * gateway start nor a chat be deleted. It lies in the browser's cache, whose room is free at once when an entry goes (IndexedDB's is not for a long while),
 * in pieces, so that one deletion does not use up what the next one needs.
 */
export class Reserve {
  readonly #name: string;

  /** `vault`: the name of the database that it is for. */
  constructor(vault: string) {
    this.#name = `reserve-${vault}`;
  }

  /** Sets aside what is missing, as far as there is room. */
  async fill(): Promise<void> {
    if (!hasCaches()) return;
    const cache = await caches.open(this.#name);
    try {
      for (let piece = 0; piece < PIECES; piece++) {
        const path = `/${piece}`;
        if (!(await cache.match(path))) await cache.put(path, new Response(new Uint8Array(PIECE_BYTES)));
      }
    } catch (error) {
      if (!(error instanceof DOMException) || error.name !== 'QuotaExceededError') throw error;
    }
  }

  /** Gives a piece back. False where there is none. */
  async spend(): Promise<boolean> {
    if (!hasCaches()) return false;
    const cache = await caches.open(this.#name);
    const [piece] = await cache.keys();
    return piece !== undefined && cache.delete(piece);
  }

  /** Does what needs little room and must not fail for want of it. Rejects as it does; with `StorageFull` once the reserve is used up too. */
  async within<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof StorageFull) || !(await this.spend())) throw error;
      }
    }
  }
}

/** Not where the page came over plain HTTP from another machine. */
const hasCaches = (): boolean => typeof caches !== 'undefined';
