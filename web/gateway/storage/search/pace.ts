/** Milliseconds of work after which others have their turn. */
const LONGEST_MS = 10;

/** Work that goes on for long: `due` now and then, then `pause`. */
export class Pace {
  #since = performance.now();

  get due(): boolean {
    return performance.now() - this.#since > LONGEST_MS;
  }

  /** Yields to other work of the worker. */
  async pause(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve));
    this.#since = performance.now();
  }
}
