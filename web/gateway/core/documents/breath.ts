/** Characters or bytes after which long work lets others have their turn: some milliseconds. */
export const SLICE = 64 * 1024;
/** Milliseconds after which it does so too: on a busy machine, or with work that was weighed too lightly, a slice takes many times as long. */
const TURN_MS = 8;

/** Lets everything that waits have its turn. Not a timer: browsers make those wait. */
export async function breathe(signal: AbortSignal): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  await new Promise<void>((resolve) => {
    port1.onmessage = () => resolve();
    port2.postMessage(null);
  });
  port1.close();
  signal.throwIfAborted();
}

/** Counts work and time, and breathes each time that a slice is done. */
export class Breath {
  readonly #signal: AbortSignal;
  #done = 0;
  #since = performance.now();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  async after(work: number): Promise<void> {
    this.#done += work;
    if (this.#done < SLICE && performance.now() - this.#since < TURN_MS) return;
    await breathe(this.#signal);
    this.#done = 0;
    this.#since = performance.now();
  }
}
