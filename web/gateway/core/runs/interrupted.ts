import { RpcError } from '#shared/rpc/errors.ts';
import type { Clock } from '../clock.ts';
import type { MessageRecord, RunRecord, Vault } from '../vault.ts';
import { LeftMessages } from './left-messages.ts';

/** What ended a run whose host is gone, as its readers are told. */
export const hostGone = (): RpcError =>
  new RpcError('INTERNAL_ERROR', 'Interrupted: the gateway that wrote this reply was closed.', { details: { reason: 'interrupted' } });

/** The reply's id, the same on every host that ends the run: if two do so apart, there is one version. */
export const toInterruptedReplyId = (runId: string): string => `interrupted-${runId}`;

/** The messages of an interrupted run with the same ids on every host that ends it, the reply's included. */
export function withSharedIds(runId: string, messages: readonly MessageRecord[]): MessageRecord[] {
  const replyId = toInterruptedReplyId(runId);
  const ids = new Map(messages.map(({ id }, place) => [id, place === messages.length - 1 ? replyId : `${replyId}-${place}`]));
  return messages.map((message) => ({
    ...message,
    id: ids.get(message.id) ?? message.id,
    parentId: message.parentId === null ? null : (ids.get(message.parentId) ?? message.parentId),
  }));
}

/**
 * Ends a run whose host is gone: stores the steps that this copy or the journal has, and the text that had come as a reply marked `interrupted`; resend is offered.
 * Resolves with the reply's id, or undefined if the message that it answers is gone too.
 */
export async function endInterrupted(vault: Vault, clock: Clock, run: RunRecord): Promise<string | undefined> {
  const [user, steps] = await Promise.all([vault.messages.get(run.userMessageId), vault.runs.steps(run.id)]);
  const { progress } = run;
  const left = new LeftMessages({
    ...{ sessionKey: run.sessionKey, runId: run.id, now: () => clock.now(), sources: () => progress?.outside ?? [] },
  });
  const shared = steps.length === 0 ? progress?.steps : undefined;
  if (user) left.replay(user, shared ?? steps);
  // Elsewhere the text of all steps is one.
  const content = shared ? run.partial.slice(progress?.chars) : run.partial;
  const { messages, replyId } = user
    ? left.with(user, { id: toInterruptedReplyId(run.id), content, model: run.model, interrupted: true })
    : { messages: [], replyId: undefined };
  await vault.runs.finish({ runId: run.id, status: 'interrupted', endedAt: clock.now(), messages: withSharedIds(run.id, messages) });
  return replyId;
}
