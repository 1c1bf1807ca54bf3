import type { VaultCopy } from './vault-copies.ts';

/** A run that a kill has interrupted has ended after so long: a host that left counts as there for 15 s, and 10 s later somebody looks again. */
export const MAX_INTERRUPTED_MS = 45_000;

/** Tracks since when runs are in progress in copies of the vault: another host must end the runs of a dead one. */
export class ActiveRunTracker {
  readonly #startTimes = new Map<string, number>();

  static trackCopy({ records }: VaultCopy): string[] {
    return [...records].flatMap(([id, row]) => (id.startsWith('runs/') && (row as { status: string }).status === 'running' ? [id] : []));
  }

  /** Restarts all timers, since absence of a host cannot be determined for now. */
  reset(): void {
    this.#startTimes.clear();
  }

  /** Throws if a run has been in progress for too long. */
  checkRuns(copy: VaultCopy, ms = MAX_INTERRUPTED_MS): void {
    const now = performance.now();
    const running = ActiveRunTracker.trackCopy(copy);
    for (const id of this.#startTimes.keys()) if (!running.includes(id)) this.#startTimes.delete(id);
    for (const id of running) {
      const since = this.#startTimes.get(id) ?? now;
      this.#startTimes.set(id, since);
      if (now - since > ms) throw new Error(`run ${id} has been under way for ${Math.round(now - since)} ms`);
    }
  }
}
