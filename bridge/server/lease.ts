import { EventEmitter } from 'node:events';
import type { Mux } from '#shared/link/mux.ts';
import { CLOSE } from '#shared/rpc/limits.ts';
import { TIMING } from './timing.ts';

export type HostKind = 'tab' | 'headless';

interface LeaseEvents {
  attach: [kind: HostKind];
  detach: [kind: HostKind, code: number, reason: string];
}

/** A host that leaves with this code is being replaced by another one: clients wait for it. Not 1012, which a browser's socket may not send. */
export const HANDING_OVER = CLOSE.handingOver;

/**
 * Which host serves: one at a time (design.md, "Two origins would be two databases"). A holder must answer a ping at every heartbeat, in code,
 * for a frozen worker's socket still answers WebSocket pings (facts.md); one that does not is dropped. Emits `attach` and `detach`.
 */
export class HostLease extends EventEmitter<LeaseEvents> {
  readonly #timing: typeof TIMING;
  #mux: Mux | null = null;
  #kind: HostKind | null = null;
  #reserved = false;
  #expectedUntil = 0;
  #expectation: NodeJS.Timeout | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  readonly #waiters = new Set<(mux: Mux | null) => void>();

  constructor(timing: typeof TIMING = TIMING) {
    super();
    this.#timing = timing;
  }

  /** The host's multiplexer, greeted already; null while there is no host. */
  get current(): Mux | null {
    return this.#mux;
  }

  get kind(): HostKind | null {
    return this.#kind;
  }

  /** Who waits for a host now. */
  get waiting(): number {
    return this.#waiters.size;
  }

  /** A host is starting and may attach within `ms` milliseconds from now: clients wait so long. 0: it is not coming after all. */
  expectHost(ms: number): void {
    clearTimeout(this.#expectation);
    this.#expectedUntil = performance.now() + ms;
    if (ms <= 0) return this.#settle(null);
    this.#expectation = setTimeout(() => this.#settle(null), ms);
    this.#expectation.unref();
  }

  /** The host, at once where there is one; null at once where none is expected, or after `ms` at the most. */
  wait(ms: number, signal?: AbortSignal): Promise<Mux | null> {
    const left = Math.min(ms, this.#expectedUntil - performance.now());
    if (this.#mux || left <= 0 || signal?.aborted) return Promise.resolve(this.#mux);
    return new Promise((resolve) => {
      const settle = (mux: Mux | null): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', giveUp);
        this.#waiters.delete(settle);
        resolve(mux);
      };
      const giveUp = (): void => settle(null);
      const timer = setTimeout(giveUp, left);
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#waiters.add(settle);
    });
  }

  /** Asks for the lease; drops a holder that shows no life. The result gives the reservation back; null: another host holds the lease. */
  async reserve(): Promise<(() => void) | null> {
    if (this.#reserved) return null;
    this.#reserved = true;
    const holder = this.#mux;
    if (holder) {
      const alive = await answers(holder, this.#timing.aliveMs);
      if (alive && this.#mux === holder) {
        this.#reserved = false;
        return null;
      }
      if (this.#mux === holder) holder.close(HANDING_OVER, 'the host did not answer, and another one takes over');
    }
    return () => void (this.#reserved = false);
  }

  /** The holder of the reservation begins to serve. */
  attach(mux: Mux, kind: HostKind): void {
    clearTimeout(this.#expectation);
    this.#expectedUntil = 0;
    this.#mux = mux;
    this.#kind = kind;
    this.#beat(mux);
    this.#settle(mux);
    this.emit('attach', kind);
  }

  /** The host is gone. Told before its streams are cut, so that they know why; later calls for the same host do nothing. */
  detach(mux: Mux, code: number, reason: string): void {
    if (this.#mux !== mux || !this.#kind) return;
    const kind = this.#kind;
    clearTimeout(this.#heartbeat);
    this.#mux = null;
    this.#kind = null;
    if (code === HANDING_OVER) this.expectHost(this.#timing.hostWaitMs);
    this.emit('detach', kind, code, reason);
  }

  /** Lets the host go, and all who wait for one. */
  close(code: number, reason: string): void {
    this.expectHost(0);
    this.#mux?.close(code, reason);
  }

  #beat(mux: Mux): void {
    this.#heartbeat = setTimeout(async () => {
      const alive = await answers(mux, this.#timing.heartbeatMs);
      if (this.#mux !== mux) return;
      if (alive) this.#beat(mux);
      else mux.close(4011, 'the host stopped answering');
    }, this.#timing.heartbeatMs);
    this.#heartbeat.unref();
  }

  #settle(mux: Mux | null): void {
    for (const settle of [...this.#waiters]) settle(mux);
  }
}

async function answers(mux: Mux, ms: number): Promise<boolean> {
  const late = Promise.withResolvers<false>();
  const timer = setTimeout(late.resolve, ms, false);
  const alive = await Promise.race([mux.ping().then(() => true), mux.closed.then(() => false), late.promise]);
  clearTimeout(timer);
  return alive;
}
