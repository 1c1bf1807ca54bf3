/** Work in line: one at a time per key, first come first served. */
export class Lanes<T> {
  readonly #lanes = new Map<string, { items: T[]; waiting: number; tail: Promise<unknown> }>();
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
  run<R>(key: string, item: T, work: () => Promise<R>): Promise<R> {
    return this.#enter(key, [item], work);
  }

  /** As `run`, for work that is no item: all before it have ended, and all behind it wait. */
  between<R>(key: string, work: () => Promise<R>): Promise<R> {
    return this.#enter(key, [], work);
  }

  async #enter<R>(key: string, items: readonly T[], work: () => Promise<R>): Promise<R> {
    let lane = this.#lanes.get(key);
    if (!lane) this.#lanes.set(key, (lane = { items: [], waiting: 0, tail: Promise.resolve() }));
    lane.items.push(...items);
    lane.waiting++;
    const mine = lane.tail.then(work);
    lane.tail = mine.catch(() => {});
    try {
      return await mine;
    } finally {
      lane.items = lane.items.filter((item) => !items.includes(item));
      if (--lane.waiting === 0) this.#lanes.delete(key);
      if (this.#lanes.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
    }
  }

  idle(): Promise<void> {
    return this.#lanes.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve));
  }
}
