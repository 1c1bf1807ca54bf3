import type { JobRun } from '#shared/rpc/methods/cron.ts';
import { answerTo, messageIdOf } from '../runs/once.ts';
import type { Vault } from '../vault.ts';

/** Maximum number of messages that are searched for the answer. */
const MESSAGES = 1000;

/**
 * Outcome of a job's run whose host has died, from what it stored in its session: the answer, or a part of it. Undefined if its message was
 * never stored, so that nothing can have happened.
 */
export async function outcomeOf(
  { messages }: Pick<Vault, 'messages'>,
  { id }: Pick<JobRun, 'id'>,
  { key, principal }: { key: string; principal: string },
): Promise<Pick<JobRun, 'status' | 'error' | 'runId'> | undefined> {
  const messageId = await messageIdOf(principal, key, id);
  const message = await messages.get(messageId);
  if (!message) return undefined;
  const reply = answerTo(messageId, (await messages.branch(key, { limit: MESSAGES })).messages);
  const runId = reply?.runId === undefined ? {} : { runId: reply.runId };
  // Only the last message of a complete answer has usage; intermediate tool calls have none.
  if (reply?.usage) return { status: 'completed', ...runId };
  return { status: 'failed', error: 'Interrupted: the gateway that ran it was closed', ...runId };
}
