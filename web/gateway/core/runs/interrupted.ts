import { RpcError } from '#shared/rpc/errors.ts';
import type { Clock } from '../clock.ts';
import type { MessageRecord, RunRecord, Vault } from '../vault.ts';

/** What ended a run whose host is gone, as its readers are told. */
export const hostGone = (): RpcError =>
  new RpcError('INTERNAL_ERROR', 'The host that wrote this reply went away', { details: { reason: 'interrupted' } });

/**
 * Ends a run whose host is gone: the text that had come is kept as a reply marked `interrupted`, and resend is offered. The reply's id; undefined
 * where the message that it answers is gone too.
 */
export async function endInterrupted(vault: Vault, clock: Clock, run: RunRecord): Promise<string | undefined> {
  const user = await vault.messages.get(run.userMessageId);
  const reply: MessageRecord | undefined = user && {
    id: crypto.randomUUID(),
    sessionKey: run.sessionKey,
    parentId: user.id,
    depth: user.depth + 1,
    role: 'assistant',
    content: run.partial,
    timestamp: clock.now(),
    model: run.model,
    interrupted: true,
    runId: run.id,
  };
  await vault.runs.finish({ runId: run.id, status: 'interrupted', endedAt: clock.now(), messages: reply ? [reply] : [] });
  return reply?.id;
}
