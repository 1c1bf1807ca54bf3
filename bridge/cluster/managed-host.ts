import { Turns } from '#shared/turns.ts';
import { keepHosted } from '../headless/keep-hosted.ts';
import { ManagedChromium, type ManagedOptions } from '../headless/managed.ts';
import type { Room } from '../headless/room.ts';
import type { Hosts } from '../server/hosts.ts';

/** Starts and stops a bridge's managed Chromium. Calls are serialized. */
export class ManagedHost {
  readonly #hosts: Hosts;
  readonly #options: ManagedOptions;
  readonly #room: Room;
  #running: { chromium: ManagedChromium; kept: AbortController } | undefined;
  readonly #turns = new Turns();

  /** `room`: shared by all vaults of the bridge. `hasFirstChoice`: reserves a place until the first `stop`. */
  constructor(hosts: Hosts, options: ManagedOptions, { room, hasFirstChoice }: { room: Room; hasFirstChoice: boolean }) {
    this.#hosts = hosts;
    this.#options = options;
    this.#room = room;
    if (hasFirstChoice) room.take(this);
  }

  /** Whether it runs or can start: the bridge's other vaults may use all permitted browsers. */
  get hasRoom(): boolean {
    return this.#room.hasPlace(this);
  }

  /** Rejects if the browser does not start. */
  start(): Promise<void> {
    // Immediately, so that another vault does not use the same place.
    this.#room.take(this);
    return this.#turns.run(async () => {
      if (this.#running) return;
      if (!this.#room.take(this)) throw new Error('the limit of managed browsers is reached (--max-browsers)');
      try {
        const chromium = await ManagedChromium.start(this.#options);
        const kept = new AbortController();
        keepHosted(this.#hosts, chromium, kept.signal);
        this.#running = { chromium, kept };
      } finally {
        if (!this.#running) this.#room.leave(this);
      }
    });
  }

  /** Ends the browser if it runs, and frees its place. */
  stop(): Promise<void> {
    return this.#turns.run(async () => {
      const running = this.#running;
      this.#running = undefined;
      running?.kept.abort();
      await running?.chromium.close();
      this.#room.leave(this);
    });
  }
}
