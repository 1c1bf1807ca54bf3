/** Semaphore for the managed Chromiums of a cluster's bridge, shared by all vaults. */
export class BrowserSemaphore {
  readonly #limit: number;
  readonly #taken = new Set<object>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether `owner` has a place or can take one. */
  hasPermit(owner: object): boolean {
    return this.#taken.has(owner) || this.#taken.size < this.#limit;
  }

  /** Takes a place. Returns false if there is none. */
  acquire(owner: object): boolean {
    if (!this.hasPermit(owner)) return false;
    this.#taken.add(owner);
    return true;
  }

  release(owner: object): void {
    this.#taken.delete(owner);
  }
}
