import { gateway } from '#lib/gateway/gateway-connection.svelte.ts';

/** The gateway's clock, by the second: it may run on another machine, whose clock is not this one's. */
class GatewayClock {
  /** Milliseconds since 1970, as the gateway has it. Goes on while somebody looks. */
  now = $state(Date.now());
  /** How far its clock is ahead of this one, in milliseconds. */
  #offsetMs = 0;
  #watchers = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Listens to what says how late it is there. */
  start(): void {
    gateway.on('tick', ({ ts }) => this.#synchronize(ts));
  }

  /** Has it go on; the result stops it. */
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
