interface Place<T> {
  /** Undefined for work without an item. */
  item: T | undefined;
  ahead: boolean;
  turn: PromiseWithResolvers<void>;
}

/** Queues work by key: one item at a time per key, in order. */
export class Lanes<T> {
  /** The first entry of each queue is running, or about to. */
  readonly #lanes = new Map<string, Place<T>[]>();
  #idle: (() => void)[] = [];

  get size(): number {
    return this.every().length;
  }

  /** The item that is running or about to. */
  current(key: string): T | undefined {
    return this.all(key)[0];
  }

  all(key: string): T[] {
    return itemsOf(this.#lanes.get(key) ?? []);
  }

  every(): T[] {
    return [...this.#lanes.values()].flatMap(itemsOf);
  }

  /** The next item, if it was queued ahead of others. */
  ahead(key: string): T | undefined {
    const next = this.#lanes.get(key)?.[1];
    return next?.ahead ? next.item : undefined;
  }

  /** Runs `work` once all previous work of this key has settled. `ahead`: before all queued work, except other work queued ahead. */
  run<R>(key: string, item: T, work: () => Promise<R>, ahead = false): Promise<R> {
    return this.#enter(key, { item, ahead, turn: Promise.withResolvers() }, work);
  }

  /** Like `run`, for work without an item: previous work has settled, and later work waits. */
  between<R>(key: string, work: () => Promise<R>): Promise<R> {
    return this.#enter(key, { item: undefined, ahead: false, turn: Promise.withResolvers() }, work);
  }

  /** Removes a queued item: its `run` rejects with `reason`. False if it is not queued. */
  leave(key: string, item: T, reason: unknown): boolean {
    const line = this.#lanes.get(key) ?? [];
    const at = line.findIndex((place) => place.item === item);
    if (at < 1) return false;
    for (const { turn } of line.splice(at, 1)) turn.reject(reason);
    return true;
  }

  async #enter<R>(key: string, place: Place<T>, work: () => Promise<R>): Promise<R> {
    let line = this.#lanes.get(key);
    if (!line) this.#lanes.set(key, (line = []));
    const lastAhead = line.findLastIndex((each, at) => at === 0 || each.ahead);
    line.splice(place.ahead ? lastAhead + 1 : line.length, 0, place);
    line[0]?.turn.resolve();
    try {
      await place.turn.promise;
      return await work();
    } finally {
      const at = line.indexOf(place);
      if (at !== -1) line.splice(at, 1);
      line[0]?.turn.resolve();
      if (line.length === 0 && this.#lanes.get(key) === line) this.#lanes.delete(key);
      if (this.#lanes.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
    }
  }

  idle(): Promise<void> {
    return this.#lanes.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve));
  }
}

const itemsOf = <T>(line: readonly Place<T>[]): T[] => line.flatMap(({ item }) => (item === undefined ? [] : [item]));
