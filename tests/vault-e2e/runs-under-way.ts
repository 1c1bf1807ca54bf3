import type { Copy } from './copies.ts';

/** A run that a kill has interrupted has ended after so long: a host that left counts as there for 15 s, and 10 s later somebody looks again. */
export const INTERRUPTED_MS = 45_000;

/** Since when runs are under way, as copies of the vault show it: whose host is gone are to be ended by another one. */
export class RunsUnderWay {
  readonly #since = new Map<string, number>();

  static in({ records }: Copy): string[] {
    return [...records].flatMap(([id, row]) => (id.startsWith('runs/') && (row as { status: string }).status === 'running' ? [id] : []));
  }

  /** Nobody can be said to be gone for now: the time counts from the next look on. */
  forget(): void {
    this.#since.clear();
  }

  /** Throws where one goes on for too long. */
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
