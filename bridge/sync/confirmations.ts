/** Those who wait until something is so, for a while. */
export class Confirmations {
  readonly #looks = new Set<() => void>();

  /** Resolves when it is so, or after `ms`. */
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

  /** It may be so by now. */
  look(): void {
    for (const look of [...this.#looks]) look();
  }
}
