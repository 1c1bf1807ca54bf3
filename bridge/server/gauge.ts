/** Counts what is under way, and tells when nothing is. */
export class Gauge {
  #count = 0;
  #waiting: (() => void)[] = [];

  get count(): number {
    return this.#count;
  }

  /** Something begins; the result, called once or more, ends it. */
  enter(): () => void {
    let inside = true;
    this.#count++;
    return () => {
      if (!inside) return;
      inside = false;
      if (--this.#count > 0) return;
      for (const resume of this.#waiting.splice(0)) resume();
    };
  }

  /** Resolves when nothing is under way, or after `ms` milliseconds. */
  async idle(ms: number): Promise<void> {
    if (this.#count === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    const timer = setTimeout(resolve, ms);
    await promise;
    clearTimeout(timer);
  }
}
