import type { CronRun } from '#shared/rpc/methods/cron-contracts.ts';
import type { JobOutcome } from './unattended-run.ts';
import { findReply, computeMessageId } from '../../agent/runs/idempotent-send.ts';
import type { Vault } from '../../storage/vault-interface.ts';

/** Maximum number of messages that are searched for the answer. */
const MAX_MESSAGES = 1000;

/**
 * Outcome of a job's run whose host has died, from what it stored in its session: the answer, or a part of it. Undefined if its message was
 * never stored, so that nothing can have happened.
 */
export async function findOutcome(
  { messages }: Pick<Vault, 'messages'>,
  { id }: Pick<CronRun, 'id'>,
  { key, principal }: { key: string; principal: string },
): Promise<JobOutcome | undefined> {
  const messageId = await computeMessageId(principal, key, id);
  const message = await messages.get(messageId);
  if (!message) return undefined;
  const reply = findReply(messageId, (await messages.branch(key, { limit: MAX_MESSAGES })).messages);
  const runId = reply?.runId === undefined ? {} : { runId: reply.runId };
  // Only the last message of a complete answer has usage; intermediate tool calls have none.
  if (reply?.usage) return { status: 'completed', messageId: reply.id, ...runId };
  return { status: 'failed', error: 'Interrupted: the gateway that ran it was closed', ...runId };
}
