import { isChannel } from '../../../system/person.ts';
import { lazy } from '#shared/async/lazy.ts';
import type { RunRecall } from '../../runs/run-types.ts';
import type { ReplyRecallDeps } from './reply-recall.ts';
import { getRecallState } from './recall-state.ts';

/** Active recall before runs. Its code is loaded with the first run; errors never fail a run. */
export function createLazyRecall({ fault, ...deps }: ReplyRecallDeps & { fault(error: unknown): unknown }): RunRecall {
  const load = lazy(async () => new (await import('./reply-recall.ts')).ReplyRecall(deps));
  return {
    async recall(run, signal) {
      // Anyone may write on a channel, and the guide searches memory itself.
      if (isChannel(run.principal) || run.provider.id === 'guide') return undefined;
      if (!getRecallState(run.agent, run.session, deps.settings()).active) return undefined;
      try {
        return await (await load()).recall(run, signal);
      } catch (error) {
        signal.throwIfAborted();
        fault(error);
        return undefined;
      }
    },
  };
}
