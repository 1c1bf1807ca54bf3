/** Waits for conditions, with a timeout. */
export class ConditionWaiter {
  readonly #checks = new Set<() => void>();

  /** Resolves when `condition` returns true, or after `ms` milliseconds. */
  wait(condition: () => boolean, ms: number): Promise<void> {
    if (condition()) return Promise.resolve();
    return new Promise((resolve) => {
      const settle = (): void => {
        clearTimeout(timer);
        this.#checks.delete(check);
        resolve();
      };
      const check = (): void => void (condition() && settle());
      const timer = setTimeout(settle, ms);
      this.#checks.add(check);
    });
  }

  /** Checks all pending conditions again. */
  look(): void {
    for (const check of [...this.#checks]) check();
  }
}
