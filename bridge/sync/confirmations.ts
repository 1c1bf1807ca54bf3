/** Waits for conditions, with a timeout. */
export class ConditionWaiter {
  readonly #looks = new Set<() => void>();

  /** Resolves when `isSo` returns true, or after `ms` milliseconds. */
  wait(isSo: () => boolean, ms: number): Promise<void> {
    if (isSo()) return Promise.resolve();
    return new Promise((resolve) => {
      const settle = (): void => {
        clearTimeout(timer);
        this.#looks.delete(look);
        resolve();
      };
      const look = (): void => void (isSo() && settle());
      const timer = setTimeout(settle, ms);
      this.#looks.add(look);
    });
  }

  /** Checks all pending conditions again. */
  look(): void {
    for (const look of [...this.#looks]) look();
  }
}
