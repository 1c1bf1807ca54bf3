import { lazy } from '../lazy.ts';
import type { Asker, RunCompaction } from '../runs/deps.ts';
import type { Compacted, SummariserDeps } from './summariser.ts';

export interface LaterCompaction extends RunCompaction {
  /** See `Compactor.now`. */
  now(who: Asker, signal: AbortSignal): Promise<Compacted | undefined>;
  stop(): void;
}

/** Compaction for runs. Its code is loaded with the first run; its failures never fail a run. */
export function compactionLater({ fault, ...deps }: SummariserDeps & { fault(error: unknown): unknown }): LaterCompaction {
  let stopped = false;
  let stop = (): void => {};
  const load = lazy(async () => {
    const compactor = new (await import('./compactor.ts')).Compactor(deps);
    stop = () => compactor.stop();
    if (stopped) stop();
    return compactor;
  });
  return {
    async before(run, signal) {
      // The guide looks up its context itself, and cannot summarise.
      if (run.chosen.provider.id === 'guide') return { summary: undefined, messages: run.above.messages };
      try {
        return await (await load()).before(run, signal);
      } catch (error) {
        signal.throwIfAborted();
        fault(error);
        return { summary: undefined, messages: run.above.messages };
      }
    },
    shortened: async (run, contextTokens, signal) => (await load()).shortened(run, contextTokens, signal),
    now: async (who, signal) => (await load()).now(who, signal),
    stop() {
      stopped = true;
      stop();
    },
  };
}
