/** Runs work once per key at a time: concurrent callers share the pending result. */
export class SingleFlight<T> {
  readonly #running = new Map<string, Promise<T>>();

  run(key: string, work: () => Promise<T>): Promise<T> {
    const running = this.#running.get(key);
    if (running) return running;
    const pending = work().finally(() => this.#running.delete(key));
    this.#running.set(key, pending);
    return pending;
  }
}
