import type { Clock } from '#shared/async/clock.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { MessageRecord, RunRecord } from '../../storage/chat-records.ts';
import { toPlainText } from '../../storage/session-views.ts';
import { RunSources } from './run-sources.ts';
import { StepMessages } from './step-messages.ts';

/** Id of the reply, the same on every host that ends the run: if two hosts do so independently, there is one version. */
export const toInterruptedReplyId = (runId: string): string => `interrupted-${runId}`;

/** Gives the messages of an interrupted run, including the reply, the same ids on every host that ends it. */
export function withSharedIds(runId: string, messages: readonly MessageRecord[]): MessageRecord[] {
  const replyId = toInterruptedReplyId(runId);
  const ids = new Map(messages.map(({ id }, index) => [id, index === messages.length - 1 ? replyId : `${replyId}-${index}`]));
  return messages.map((message) => ({
    ...message,
    id: ids.get(message.id) ?? message.id,
    parentId: message.parentId === null ? null : (ids.get(message.parentId) ?? message.parentId),
  }));
}

/**
 * Ends a run whose host is gone: stores the steps known to this copy or the journal, and the text so far as a reply marked `interrupted`,
 * which can be resent. Resolves with the reply's id, or undefined if the message that it answers no longer exists.
 */
export async function endInterrupted(vault: Vault, clock: Clock, run: RunRecord): Promise<string | undefined> {
  const [user, steps] = await Promise.all([vault.messages.get(run.userMessageId), vault.runs.steps(run.id)]);
  const { progress } = run;
  const stepMessages = new StepMessages({
    ...{ sessionKey: run.sessionKey, runId: run.id, now: () => clock.now(), sources: () => progress?.outside ?? [] },
  });
  const shared = steps.length === 0 ? progress?.steps : undefined;
  if (user) stepMessages.replay(user, shared ?? steps);
  // With shared steps, the partial text also contains the text of all previous steps.
  const content = shared ? run.partial.slice(progress?.chars) : run.partial;
  const sources = new RunSources();
  sources.addEarlier([{ readSources: stepMessages.readSources }]);
  const settled = user ? await sources.settle(content, toPlainText(user.content)).catch(() => ({ content })) : { content };
  const { messages, replyId } = user
    ? stepMessages.withReply(user, { id: toInterruptedReplyId(run.id), ...settled, model: run.model, interrupted: true })
    : { messages: [], replyId: undefined };
  await vault.runs.finish({ runId: run.id, status: 'interrupted', endedAt: clock.now(), messages: withSharedIds(run.id, messages) });
  return replyId;
}
