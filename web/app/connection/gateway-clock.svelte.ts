import { gateway } from './gateway-connection.svelte.ts';

/** The gateway's clock, by the second. The gateway may run on another machine, whose clock differs. */
class GatewayClock {
  /** Milliseconds since 1970 by the gateway's clock; updated while it is watched. */
  now = $state(Date.now());
  /** How far its clock is ahead of this one, in milliseconds. */
  #offsetMs = 0;
  #watchers = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Synchronizes the clock at each tick of the gateway. */
  start(): void {
    gateway.on('tick', ({ ts }) => this.#synchronize(ts));
  }

  /** Updates `now` each second. Returns a function that stops it. */
  watch(): () => void {
    this.#tick();
    if (this.#watchers++ === 0) this.#timer = setInterval(() => this.#tick(), 1000);
    return () => {
      if (--this.#watchers === 0) clearInterval(this.#timer);
    };
  }

  #synchronize(ts: number): void {
    this.#offsetMs = ts - Date.now();
    this.#tick();
  }

  #tick(): void {
    this.now = Date.now() + this.#offsetMs;
  }
}

export const gatewayClock = new GatewayClock();
