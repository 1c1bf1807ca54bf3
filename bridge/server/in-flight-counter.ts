/** Counts operations in progress, and reports when there are none. */
export class InFlightCounter {
  #count = 0;
  #waiting: (() => void)[] = [];

  get count(): number {
    return this.#count;
  }

  /** Counts an operation as started. The result ends it; further calls have no effect. */
  begin(): () => void {
    let inside = true;
    this.#count++;
    return () => {
      if (!inside) return;
      inside = false;
      if (--this.#count > 0) return;
      for (const resume of this.#waiting.splice(0)) resume();
    };
  }

  /** Resolves when no operation is in progress, or after `ms` milliseconds. */
  async whenIdle(ms: number): Promise<void> {
    if (this.#count === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    const timer = setTimeout(resolve, ms);
    await promise;
    clearTimeout(timer);
  }
}
