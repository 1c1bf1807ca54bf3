interface Place<T> {
  /** What has it; undefined for work that is no item. */
  item: T | undefined;
  ahead: boolean;
  turn: PromiseWithResolvers<void>;
}

/** Work in line: one at a time per key, first come first served. */
export class Lanes<T> {
  /** The first place of each line is under way, or about to be. */
  readonly #lanes = new Map<string, Place<T>[]>();
  #idle: (() => void)[] = [];

  get size(): number {
    return this.every().length;
  }

  /** The item at the head of a line: under way, or about to be. */
  current(key: string): T | undefined {
    return this.all(key)[0];
  }

  all(key: string): T[] {
    return itemsOf(this.#lanes.get(key) ?? []);
  }

  every(): T[] {
    return [...this.#lanes.values()].flatMap(itemsOf);
  }

  /** What comes next where it is to be taken ahead of its turn. */
  ahead(key: string): T | undefined {
    const next = this.#lanes.get(key)?.[1];
    return next?.ahead ? next.item : undefined;
  }

  /** Runs `work` when all before it in this line have ended, however they ended. `ahead`: before all that wait, but those that came ahead of their turn too. */
  run<R>(key: string, item: T, work: () => Promise<R>, ahead = false): Promise<R> {
    return this.#enter(key, { item, ahead, turn: Promise.withResolvers() }, work);
  }

  /** As `run`, for work that is no item: all before it have ended, and all behind it wait. */
  between<R>(key: string, work: () => Promise<R>): Promise<R> {
    return this.#enter(key, { item: undefined, ahead: false, turn: Promise.withResolvers() }, work);
  }

  /** Takes an item that waits out of its line: its `run` rejects with `reason`. False where it does not wait. */
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
