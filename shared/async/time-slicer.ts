/** Amount of work, in characters or bytes, after which a long task yields: takes some milliseconds. */
export const SLICE_SIZE = 64 * 1024;
/** Milliseconds after which it yields too: on a busy machine, or with underestimated work, a slice takes many times as long. */
const MAX_SLICE_MS = 8;

/** Yields to all pending tasks. Not by a timer, since browsers throttle those. */
export async function yieldToEventLoop(signal?: AbortSignal): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  await new Promise<void>((resolve) => {
    port1.onmessage = () => resolve();
    port2.postMessage(null);
  });
  port1.close();
  signal?.throwIfAborted();
}

/** Measures work and time, and yields after each slice. */
export class TimeSlicer {
  readonly #signal: AbortSignal | undefined;
  #work = 0;
  #sliceStart = performance.now();

  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  /** Whether the slice has taken its time. */
  get isDue(): boolean {
    return performance.now() - this.#sliceStart >= MAX_SLICE_MS;
  }

  /** Yields, and begins the next slice. Rejects if the work was aborted. */
  async pause(): Promise<void> {
    await yieldToEventLoop(this.#signal);
    this.#work = 0;
    this.#sliceStart = performance.now();
  }

  /** Counts `work` that was done, and yields after each slice. */
  async after(work: number): Promise<void> {
    this.#work += work;
    if (this.#work >= SLICE_SIZE || this.isDue) await this.pause();
  }
}
