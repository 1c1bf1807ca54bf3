/** Semaphore for the managed Chromiums of a cluster's bridge, shared by all vaults. */
export class Room {
  readonly #limit: number;
  readonly #taken = new Set<object>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether `owner` has a place or can take one. */
  hasPlace(owner: object): boolean {
    return this.#taken.has(owner) || this.#taken.size < this.#limit;
  }

  /** Takes a place. Returns false if there is none. */
  take(owner: object): boolean {
    if (!this.hasPlace(owner)) return false;
    this.#taken.add(owner);
    return true;
  }

  leave(owner: object): void {
    this.#taken.delete(owner);
  }
}
