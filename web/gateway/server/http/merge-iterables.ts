/** Merges several sources: yields each value as it arrives, with the index of its source. The first failure ends all of them. */
export async function* mergeIterables<T>(sources: readonly AsyncIterable<T>[]): AsyncGenerator<{ index: number; value: T }> {
  const iterators = sources.map((source) => source[Symbol.asyncIterator]());
  const next = async (index: number): Promise<{ index: number; result: IteratorResult<T> | undefined }> => ({
    index,
    result: await iterators[index]?.next(),
  });
  const pendingResults = new Map(iterators.map((_, index) => [index, next(index)]));
  try {
    while (pendingResults.size > 0) {
      const { index, result } = await Promise.race(pendingResults.values());
      if (!result || result.done) {
        pendingResults.delete(index);
        continue;
      }
      pendingResults.set(index, next(index));
      yield { index, value: result.value };
    }
  } finally {
    for (const pending of pendingResults.values()) pending.catch(() => {});
    // Takes effect after pending reads, which the callers' signal ends.
    for (const iterator of iterators) void Promise.resolve(iterator.return?.()).catch(() => {});
  }
}
