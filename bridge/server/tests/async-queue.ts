/** Queue with an asynchronous `next`. */
interface AsyncQueue<T> {
  push(item: T): void;
  /** Ends the queue: pending and later `next` calls reject once the remaining items are taken. */
  fail(error: Error): void;
  next(): Promise<T>;
}

export function createAsyncQueue<T>(): AsyncQueue<T> {
  const items: T[] = [];
  const waiting: PromiseWithResolvers<T>[] = [];
  let failure: Error | undefined;
  return {
    push(item) {
      const first = waiting.shift();
      if (first) first.resolve(item);
      else items.push(item);
    },
    fail(error) {
      failure ??= error;
      for (const pending of waiting.splice(0)) pending.reject(error);
    },
    next() {
      const item = items.shift();
      if (item !== undefined) return Promise.resolve(item);
      if (failure) return Promise.reject(failure);
      const pending = Promise.withResolvers<T>();
      waiting.push(pending);
      return pending.promise;
    },
  };
}
