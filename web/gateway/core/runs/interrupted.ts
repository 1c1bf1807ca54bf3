import { RpcError } from '#shared/rpc/errors.ts';
import type { Clock } from '../clock.ts';
import type { RunRecord, Vault } from '../vault.ts';
import { LeftMessages } from './left-messages.ts';

/** What ended a run whose host is gone, as its readers are told. */
export const hostGone = (): RpcError =>
  new RpcError('INTERNAL_ERROR', 'Interrupted: the gateway that wrote this reply was closed.', { details: { reason: 'interrupted' } });

/** The reply's id, the same on every host that ends the run: if two do so apart, there is one version. */
export const toInterruptedReplyId = (runId: string): string => `interrupted-${runId}`;

/**
 * Ends a run whose host is gone: the steps that it made are kept, as far as this copy has them, and the text that had come as a reply marked `interrupted`;
 * resend is offered. The reply's id; undefined where the message that it answers is gone too.
 */
export async function endInterrupted(vault: Vault, clock: Clock, run: RunRecord): Promise<string | undefined> {
  const [user, steps] = await Promise.all([vault.messages.get(run.userMessageId), vault.runs.steps(run.id)]);
  const left = new LeftMessages({ sessionKey: run.sessionKey, runId: run.id, now: () => clock.now() });
  if (user) left.replay(user, steps);
  const { messages, replyId } = user
    ? left.with(user, { id: toInterruptedReplyId(run.id), content: run.partial, model: run.model, interrupted: true })
    : { messages: [], replyId: undefined };
  await vault.runs.finish({ runId: run.id, status: 'interrupted', endedAt: clock.now(), messages });
  return replyId;
}
