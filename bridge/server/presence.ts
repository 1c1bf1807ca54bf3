import type { Hosts } from './hosts.ts';

/**
 * Which hosts count as there when a lease is asked for: a socket that breaks is no host that died, so each has some seconds to come back, and so have all
 * when the bridge itself has just started.
 */
export class Presence {
  readonly #hosts: Hosts;
  readonly #graceMs: number;
  readonly #startedAt = performance.now();
  readonly #left = new Map<string, number>();

  constructor(hosts: Hosts, graceMs: number) {
    this.#hosts = hosts;
    this.#graceMs = graceMs;
    hosts.on('leave', ({ identity }) => {
      const now = performance.now();
      for (const [origin, at] of this.#left) if (now - at >= graceMs) this.#left.delete(origin);
      if (identity) this.#left.set(identity.origin, now);
    });
  }

  /** The origins that are there; null while nobody can be said to be gone. */
  now(): readonly string[] | null {
    const now = performance.now();
    if (now - this.#startedAt < this.#graceMs) return null;
    const attached = this.#hosts.list().flatMap(({ origin }) => origin || []);
    const recent = [...this.#left].filter(([, at]) => now - at < this.#graceMs).map(([origin]) => origin);
    return [...attached, ...recent];
  }
}
