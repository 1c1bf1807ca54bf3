/** Work in line: one at a time per key, first come first served. */
export class Lanes<T> {
  readonly #lanes = new Map<string, { items: T[]; tail: Promise<unknown> }>();
  #idle: (() => void)[] = [];

  get size(): number {
    let size = 0;
    for (const { items } of this.#lanes.values()) size += items.length;
    return size;
  }

  /** The item at the head of a line: under way, or about to be. */
  current(key: string): T | undefined {
    return this.#lanes.get(key)?.items[0];
  }

  all(key: string): T[] {
    return [...(this.#lanes.get(key)?.items ?? [])];
  }

  every(): T[] {
    return [...this.#lanes.values()].flatMap(({ items }) => items);
  }

  /** Runs `work` when all before it in this line have ended, however they ended. */
  async run<R>(key: string, item: T, work: () => Promise<R>): Promise<R> {
    let lane = this.#lanes.get(key);
    if (!lane) this.#lanes.set(key, (lane = { items: [], tail: Promise.resolve() }));
    lane.items.push(item);
    const mine = lane.tail.then(work);
    lane.tail = mine.catch(() => {});
    try {
      return await mine;
    } finally {
      lane.items.splice(lane.items.indexOf(item), 1);
      if (lane.items.length === 0) this.#lanes.delete(key);
      if (this.#lanes.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
    }
  }

  /** Resolves when a line is empty. */
  async settled(key: string): Promise<void> {
    for (let lane = this.#lanes.get(key); lane; lane = this.#lanes.get(key)) {
      await lane.tail;
      // The line's own clean-up runs in the same turn as its tail.
      await Promise.resolve();
    }
  }

  idle(): Promise<void> {
    return this.#lanes.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve));
  }
}
