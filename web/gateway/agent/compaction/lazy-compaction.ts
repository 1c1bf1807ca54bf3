import { lazy } from '#shared/async/lazy.ts';
import type { ModelCaller, RunCompaction } from '../runs/run-types.ts';
import type { StoredSummary, SummariserDeps } from './summariser.ts';

export interface LazyCompaction extends RunCompaction {
  /** See `Compactor.compact`. */
  compact(caller: ModelCaller, signal: AbortSignal): Promise<StoredSummary | undefined>;
  stop(): void;
}

/** Compaction for runs. Its code is loaded with the first run; its failures never fail a run. */
export function createLazyCompaction({ fault, ...deps }: SummariserDeps & { fault(error: unknown): unknown }): LazyCompaction {
  let stopped = false;
  let stop = (): void => {};
  const load = lazy(async () => {
    const compactor = new (await import('./compactor.ts')).Compactor(deps);
    stop = () => compactor.stop();
    if (stopped) stop();
    return compactor;
  });
  return {
    async prepare(run, signal) {
      // The guide looks up its context itself, and cannot summarise.
      if (run.chosen.provider.id === 'guide') return { summary: undefined, messages: run.above.messages };
      try {
        return await (await load()).prepare(run, signal);
      } catch (error) {
        signal.throwIfAborted();
        fault(error);
        return { summary: undefined, messages: run.above.messages };
      }
    },
    shorten: async (run, contextTokens, signal) => (await load()).shorten(run, contextTokens, signal),
    compact: async (caller, signal) => (await load()).compact(caller, signal),
    stop() {
      stopped = true;
      stop();
    },
  };
}
