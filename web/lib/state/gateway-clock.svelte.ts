import { gateway } from '#lib/gateway/connection.svelte.ts';

/** The gateway's clock, by the second: it may run on another machine, whose clock is not this one's. */
class GatewayClock {
  /** Milliseconds since 1970, as the gateway has it. Goes on while somebody looks. */
  now = $state(Date.now());
  /** How far its clock is ahead of this one, in milliseconds. */
  #ahead = 0;
  #watchers = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Listens to what says how late it is there. */
  start(): void {
    gateway.on('tick', ({ ts }) => this.#set(ts));
  }

  /** Has it go on; the result stops it. */
  show(): () => void {
    this.#look();
    if (this.#watchers++ === 0) this.#timer = setInterval(() => this.#look(), 1000);
    return () => {
      if (--this.#watchers === 0) clearInterval(this.#timer);
    };
  }

  #set(ts: number): void {
    this.#ahead = ts - Date.now();
    this.#look();
  }

  #look(): void {
    this.now = Date.now() + this.#ahead;
  }
}

export const gatewayClock = new GatewayClock();
