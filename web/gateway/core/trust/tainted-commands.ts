import type { Clock } from '../clock.ts';
import { mergeSources } from './sources.ts';

/** Files that a command wrote are found on disk this long after its end at the latest. */
const SETTLE_MS = 60_000;

/** Commands of tainted runs: files that change on disk while one runs, or shortly after, may be their work and not the owner's. */
export class TaintedCommands {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #commands = new Set<{ sources: readonly string[]; endedAt: number | undefined }>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Runs a command of a run with these sources. */
  async track<R>(sources: readonly string[], command: () => Promise<R>): Promise<R> {
    if (sources.length === 0) return command();
    const entry: { sources: readonly string[]; endedAt: number | undefined } = { sources, endedAt: undefined };
    this.#commands.add(entry);
    try {
      return await command();
    } finally {
      entry.endedAt = this.#clock.monotonic();
    }
  }

  /** Sources of the commands that may have written what has just changed on disk. */
  get sources(): readonly string[] {
    const now = this.#clock.monotonic();
    for (const entry of this.#commands) if (entry.endedAt !== undefined && now - entry.endedAt > SETTLE_MS) this.#commands.delete(entry);
    return mergeSources(...[...this.#commands].map(({ sources }) => sources));
  }
}
