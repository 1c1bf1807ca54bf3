import type { Copy } from './copies.ts';

/** A run that a kill has interrupted has ended after so long: a host that left counts as there for 15 s, and 10 s later somebody looks again. */
export const INTERRUPTED_MS = 45_000;

/** Tracks since when runs are in progress in copies of the vault: another host must end the runs of a dead one. */
export class RunsUnderWay {
  readonly #since = new Map<string, number>();

  static in({ records }: Copy): string[] {
    return [...records].flatMap(([id, row]) => (id.startsWith('runs/') && (row as { status: string }).status === 'running' ? [id] : []));
  }

  /** Restarts all timers, since absence of a host cannot be determined for now. */
  forget(): void {
    this.#since.clear();
  }

  /** Throws if a run has been in progress for too long. */
  look(copy: Copy, ms = INTERRUPTED_MS): void {
    const now = performance.now();
    const running = RunsUnderWay.in(copy);
    for (const id of this.#since.keys()) if (!running.includes(id)) this.#since.delete(id);
    for (const id of running) {
      const since = this.#since.get(id) ?? now;
      this.#since.set(id, since);
      if (now - since > ms) throw new Error(`run ${id} has been under way for ${Math.round(now - since)} ms`);
    }
  }
}
