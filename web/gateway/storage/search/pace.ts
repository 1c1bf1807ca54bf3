/** Maximum duration of work in milliseconds before other tasks can run. */
const LONGEST_MS = 10;

/** Splits long work: check `due` periodically, then `pause`. */
export class Pace {
  #since = performance.now();

  get due(): boolean {
    return performance.now() - this.#since > LONGEST_MS;
  }

  /** Yields to other tasks of the worker. */
  async pause(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve));
    this.#since = performance.now();
  }
}
