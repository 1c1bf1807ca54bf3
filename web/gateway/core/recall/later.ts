import { isChannel } from '../approvals/person.ts';
import { lazy } from '../lazy.ts';
import type { RunRecall } from '../runs/deps.ts';
import type { BeforeReplyDeps } from './before-reply.ts';
import { recallStanding } from './standing.ts';

/** Active recall before runs. Its code is loaded with the first run; errors never fail a run. */
export function recallLater({ fault, ...deps }: BeforeReplyDeps & { fault(error: unknown): unknown }): RunRecall {
  const load = lazy(async () => new (await import('./before-reply.ts')).BeforeReply(deps));
  return {
    async before(run, signal) {
      // Anyone may write on a channel, and the guide searches memory itself.
      if (isChannel(run.principal) || run.provider.id === 'guide') return undefined;
      if (!recallStanding(run.agent, run.session, deps.settings()).active) return undefined;
      try {
        return await (await load()).before(run, signal);
      } catch (error) {
        signal.throwIfAborted();
        fault(error);
        return undefined;
      }
    },
  };
}
