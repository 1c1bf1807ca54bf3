import { keepHosted } from '../headless/keep-hosted.ts';
import { ManagedChromium, type ManagedOptions } from '../headless/managed.ts';
import type { Hosts } from '../server/hosts.ts';

/** The managed Chromium of a bridge that does not always have one. Calls wait for each other. */
export class ManagedHost {
  readonly #hosts: Hosts;
  readonly #options: ManagedOptions;
  #running: { chromium: ManagedChromium; kept: AbortController } | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(hosts: Hosts, options: ManagedOptions) {
    this.#hosts = hosts;
    this.#options = options;
  }

  /** Rejects where it does not start. */
  start(): Promise<void> {
    return this.#alone(async () => {
      if (this.#running) return;
      const chromium = await ManagedChromium.start(this.#options);
      const kept = new AbortController();
      keepHosted(this.#hosts, chromium, kept.signal);
      this.#running = { chromium, kept };
    });
  }

  stop(): Promise<void> {
    return this.#alone(async () => {
      const running = this.#running;
      this.#running = undefined;
      running?.kept.abort();
      await running?.chromium.close();
    });
  }

  #alone<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => {});
    return turn;
  }
}
