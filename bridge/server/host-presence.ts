import type { HostRegistry } from './hosts.ts';

/**
 * Tracks the hosts that count as present when a lease is requested. A broken socket does not mean that the host has died, so each has some
 * seconds to reconnect; so do all hosts after the bridge's own start.
 */
export class HostPresence {
  readonly #hosts: HostRegistry;
  readonly #graceMs: number;
  readonly #startedAt = performance.now();
  readonly #left = new Map<string, number>();

  constructor(hosts: HostRegistry, graceMs: number) {
    this.#hosts = hosts;
    this.#graceMs = graceMs;
    hosts.on('leave', ({ identity }) => {
      const now = performance.now();
      for (const [origin, at] of this.#left) if (now - at >= graceMs) this.#left.delete(origin);
      if (identity) this.#left.set(identity.origin, now);
    });
  }

  /** Returns the origins that are present; null while absence can't be determined. */
  now(): readonly string[] | null {
    const now = performance.now();
    if (now - this.#startedAt < this.#graceMs) return null;
    const attached = this.#hosts.list().flatMap(({ origin }) => origin || []);
    const recent = [...this.#left].filter(([, at]) => now - at < this.#graceMs).map(([origin]) => origin);
    return [...attached, ...recent];
  }
}
