import { Mutex } from '#shared/async/mutex.ts';
import { keepHostAttached } from '../headless/keep-host-attached.ts';
import { ManagedChromium, type ManagedChromiumOptions } from '../headless/managed-chromium.ts';
import type { BrowserSemaphore } from '../headless/browser-semaphore.ts';
import type { HostRegistry } from '../server/hosts.ts';

/** Starts and stops a bridge's managed Chromium. Calls are serialized. */
export class ManagedHost {
  readonly #hosts: HostRegistry;
  readonly #options: ManagedChromiumOptions;
  readonly #semaphore: BrowserSemaphore;
  #running: { chromium: ManagedChromium; supervision: AbortController } | undefined;
  readonly #mutex = new Mutex();

  /** `room`: shared by all vaults of the bridge. `reservesPlace`: reserves a place until the first `stop`. */
  constructor(
    hosts: HostRegistry,
    options: ManagedChromiumOptions,
    { room, reservesPlace }: { room: BrowserSemaphore; reservesPlace: boolean },
  ) {
    this.#hosts = hosts;
    this.#options = options;
    this.#semaphore = room;
    if (reservesPlace) room.acquire(this);
  }

  /** Whether it runs or can start: the bridge's other vaults may use all permitted browsers. */
  get hasPermit(): boolean {
    return this.#semaphore.hasPermit(this);
  }

  /** Rejects if the browser does not start. */
  start(): Promise<void> {
    // Immediately, so that another vault does not use the same place.
    this.#semaphore.acquire(this);
    return this.#mutex.run(async () => {
      if (this.#running) return;
      if (!this.#semaphore.acquire(this)) throw new Error('the limit of managed browsers is reached (--max-browsers)');
      try {
        const chromium = await ManagedChromium.start(this.#options);
        const supervision = new AbortController();
        keepHostAttached(this.#hosts, chromium, supervision.signal);
        this.#running = { chromium, supervision };
      } finally {
        if (!this.#running) this.#semaphore.release(this);
      }
    });
  }

  /** Ends the browser if it runs, and frees its place. */
  stop(): Promise<void> {
    return this.#mutex.run(async () => {
      const running = this.#running;
      this.#running = undefined;
      running?.supervision.abort();
      await running?.chromium.close();
      this.#semaphore.release(this);
    });
  }
}
