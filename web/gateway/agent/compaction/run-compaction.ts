import type { Lazy } from '../../system/modules.ts';
import type { RunCompaction } from '../runs/run-types.ts';
import type { Compactor } from './compactor.ts';

/** Compaction for runs. Its failures never fail a run. */
export const createRunCompaction = ({ load }: Lazy<Compactor>, fault: (error: unknown) => unknown): RunCompaction => ({
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
});
