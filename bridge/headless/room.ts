/** How many managed Chromiums a bridge of a cluster may run at a time, for all vaults together. */
export class Room {
  readonly #limit: number;
  readonly #taken = new Set<object>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether there is a place for `owner`, who may have one already. */
  hasPlace(owner: object): boolean {
    return this.#taken.has(owner) || this.#taken.size < this.#limit;
  }

  /** False where there is none. */
  take(owner: object): boolean {
    if (!this.hasPlace(owner)) return false;
    this.#taken.add(owner);
    return true;
  }

  leave(owner: object): void {
    this.#taken.delete(owner);
  }
}
