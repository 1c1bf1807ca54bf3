interface QueueEntry<T> {
  /** Undefined for work without an item. */
  item: T | undefined;
  isPriority: boolean;
  ready: PromiseWithResolvers<void>;
}

/** Queues work by key: one item at a time per key, in order. */
export class KeyedQueue<T> {
  /** The first entry of each queue is running, or about to. */
  readonly #queues = new Map<string, QueueEntry<T>[]>();
  #idleWaiters: (() => void)[] = [];

  get size(): number {
    return this.listAll().length;
  }

  /** The item that is running or about to. */
  current(key: string): T | undefined {
    return this.list(key)[0];
  }

  list(key: string): T[] {
    return getItems(this.#queues.get(key) ?? []);
  }

  listAll(): T[] {
    return [...this.#queues.values()].flatMap(getItems);
  }

  /** The next item, if it was queued ahead of others. */
  getNextPriority(key: string): T | undefined {
    const next = this.#queues.get(key)?.[1];
    return next?.isPriority ? next.item : undefined;
  }

  /** Runs `work` once all previous work of this key has settled. `ahead`: before all queued work, except other work queued ahead. */
  run<R>(key: string, item: T, work: () => Promise<R>, isPriority = false): Promise<R> {
    return this.#enqueue(key, { item, isPriority, ready: Promise.withResolvers() }, work);
  }

  /** Like `run`, for work without an item: previous work has settled, and later work waits. */
  runExclusive<R>(key: string, work: () => Promise<R>): Promise<R> {
    return this.#enqueue(key, { item: undefined, isPriority: false, ready: Promise.withResolvers() }, work);
  }

  /** Removes a queued item: its `run` rejects with `reason`. False if it is not queued. */
  remove(key: string, item: T, reason: unknown): boolean {
    const queue = this.#queues.get(key) ?? [];
    const index = queue.findIndex((entry) => entry.item === item);
    if (index < 1) return false;
    for (const { ready } of queue.splice(index, 1)) ready.reject(reason);
    return true;
  }

  async #enqueue<R>(key: string, entry: QueueEntry<T>, work: () => Promise<R>): Promise<R> {
    let queue = this.#queues.get(key);
    if (!queue) this.#queues.set(key, (queue = []));
    const lastAhead = queue.findLastIndex((entry, index) => index === 0 || entry.isPriority);
    queue.splice(entry.isPriority ? lastAhead + 1 : queue.length, 0, entry);
    queue[0]?.ready.resolve();
    try {
      await entry.ready.promise;
      return await work();
    } finally {
      const index = queue.indexOf(entry);
      if (index !== -1) queue.splice(index, 1);
      queue[0]?.ready.resolve();
      if (queue.length === 0 && this.#queues.get(key) === queue) this.#queues.delete(key);
      if (this.#queues.size === 0) for (const resolve of this.#idleWaiters.splice(0)) resolve();
    }
  }

  whenIdle(): Promise<void> {
    return this.#queues.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#idleWaiters.push(resolve));
  }
}

const getItems = <T>(queue: readonly QueueEntry<T>[]): T[] => queue.flatMap(({ item }) => (item === undefined ? [] : [item]));
