/** Waits for conditions, with a timeout. */
export class ConditionWaiter {
  readonly #looks = new Set<() => void>();

  /** Resolves when `isSo` returns true, or after `ms` milliseconds. */
  wait(condition: () => boolean, ms: number): Promise<void> {
    if (condition()) return Promise.resolve();
    return new Promise((resolve) => {
      const settle = (): void => {
        clearTimeout(timer);
        this.#looks.delete(check);
        resolve();
      };
      const check = (): void => void (condition() && settle());
      const timer = setTimeout(settle, ms);
      this.#looks.add(check);
    });
  }

  /** Checks all pending conditions again. */
  look(): void {
    for (const check of [...this.#looks]) check();
  }
}
