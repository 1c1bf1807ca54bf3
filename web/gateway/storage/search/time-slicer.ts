/** Maximum duration of work in milliseconds before other tasks can run. */
const MAX_SLICE_MS = 10;

/** Splits long work: check `isDue` periodically, then `pause`. */
export class TimeSlicer {
  #sliceStart = performance.now();

  get isDue(): boolean {
    return performance.now() - this.#sliceStart > MAX_SLICE_MS;
  }

  /** Yields to other tasks of the worker. */
  async pause(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve));
    this.#sliceStart = performance.now();
  }
}
