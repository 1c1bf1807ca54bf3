import type { Clock } from '#shared/async/clock.ts';

/** Sends the first event of a name at once, and further ones at most once in a while. */
export class ThrottledEvents {
  readonly #clock: Clock;
  readonly #pending = new Map<string, { send: (() => void) | undefined; cancel: () => void }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  send(name: string, ms: number, send: () => void): void {
    const pending = this.#pending.get(name);
    if (pending) {
      pending.send = send;
      return;
    }
    send();
    this.#wait(name, ms);
  }

  stop(): void {
    for (const { cancel } of this.#pending.values()) cancel();
    this.#pending.clear();
  }

  #wait(name: string, ms: number): void {
    const cancel = this.#clock.after(ms, () => {
      const { send } = this.#pending.get(name) ?? {};
      this.#pending.delete(name);
      if (!send) return;
      send();
      this.#wait(name, ms);
    });
    this.#pending.set(name, { send: undefined, cancel });
  }
}
