/** Semaphore for the managed Chromiums of a cluster's bridge, shared by all vaults. */
export class BrowserSemaphore {
  readonly #limit: number;
  readonly #holders = new Set<object>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether `owner` has a place or can take one. */
  hasPermit(owner: object): boolean {
    return this.#holders.has(owner) || this.#holders.size < this.#limit;
  }

  /** Takes a place. Returns false if there is none. */
  acquire(owner: object): boolean {
    if (!this.hasPermit(owner)) return false;
    this.#holders.add(owner);
    return true;
  }

  release(owner: object): void {
    this.#holders.delete(owner);
  }
}
