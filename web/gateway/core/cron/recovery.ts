import type { JobRun } from '#shared/rpc/methods/cron.ts';
import { answerTo, messageIdOf } from '../runs/once.ts';
import type { Vault } from '../vault.ts';

/** Messages that are looked through for the answer. */
const MESSAGES = 1000;

/**
 * What became of a job's run whose host is gone, by what it left in its session: the answer, or a part of one. Undefined where its message was never stored,
 * so that nothing of it can have happened.
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
  // The last of a whole answer says what it took; the calls of tools on the way to it do not.
  if (reply?.usage) return { status: 'completed', ...runId };
  return { status: 'failed', error: 'Interrupted: the gateway that ran it was closed', ...runId };
}
