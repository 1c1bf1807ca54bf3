import type { Settings } from '../../../config/settings-schema.ts';
import type { Lazy } from '../../../system/modules.ts';
import { isChannel } from '../../../system/person.ts';
import type { RunRecall } from '../../runs/run-types.ts';
import { getRecallState } from './recall-state.ts';
import type { ReplyRecall } from './reply-recall.ts';

interface RunRecallDeps {
  replyRecall: Lazy<ReplyRecall>;
  settings(): Settings;
  fault(error: unknown): unknown;
}

/** Active recall before runs. Errors never fail a run. */
export const createRunRecall = ({ replyRecall, settings, fault }: RunRecallDeps): RunRecall => ({
  async recall(run, signal) {
    // Anyone may write on a channel, and the guide searches memory itself.
    if (isChannel(run.principal) || run.provider.id === 'guide') return undefined;
    if (!getRecallState(run.agent, run.session, settings()).active) return undefined;
    try {
      return await (await replyRecall.load()).recall(run, signal);
    } catch (error) {
      signal.throwIfAborted();
      fault(error);
      return undefined;
    }
  },
});
