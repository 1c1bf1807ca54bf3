import { sha256 } from '#shared/sha256.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { MessageRecord } from '../../storage/chat-records.ts';
import { RETENTION_MS } from '../../system/idempotency.ts';
import type { RunResult, RunPosition, RunRequest } from './run-types.ts';

/** Number of messages at the end of a branch in which a recently stored message is looked for. */
const MAX_MESSAGES = 100;

/**
 * Position of a call's message, unless an earlier attempt stored it, on this host or on one that is gone: then returns its answer, or the
 * message to answer again if that attempt failed. The message's id is derived from sender and key, so every host that has the message
 * recognizes it.
 */
export async function resolveIdempotentSend(
  { messages, sessions }: Vault,
  request: RunRequest,
  key: string,
  now: number,
  createPosition: (messageId: string) => Promise<RunPosition>,
): Promise<RunPosition | RunResult> {
  const { idempotencyKey, principal, sessionId } = request;
  if (idempotencyKey === undefined) return createPosition(crypto.randomUUID());
  const id = await computeMessageId(principal, key, idempotencyKey);
  const [user, session] = await Promise.all([messages.get(id), sessions.get(key)]);
  if (!user) return createPosition(id);
  if (!session || now - user.timestamp > RETENTION_MS) return createPosition(crypto.randomUUID());
  const branch = await messages.branch(key, { limit: MAX_MESSAGES });
  const reply = findReply(id, branch.messages);
  if (!reply?.usage || reply.runId === undefined) return { session, message: null, user };
  return { completed: true, sessionId, runId: reply.runId, messageId: reply.id, usage: reply.usage };
}

/**
 * Sender of an idempotency key: a page that moves from the bridge to its browser's own host has a different principal there, but repeats
 * the same calls.
 */
export const toSender = (principal: string): string => (principal.startsWith('app:') ? 'app' : principal);

/** Id of the message that a call with an idempotency key stores in a session. */
export const computeMessageId = async (principal: string, key: string, idempotencyKey: string): Promise<string> =>
  (await sha256(JSON.stringify([toSender(principal), key, idempotencyKey]))).slice(0, 32);

/** The complete reply to a message of the branch: the last message before the user's next one. */
export function findReply(id: string, branch: readonly MessageRecord[]): MessageRecord | undefined {
  const index = branch.findIndex((message) => message.id === id);
  if (index < 0) return undefined;
  const laterMessages = branch.slice(index + 1);
  const next = laterMessages.findIndex(({ role }) => role === 'user');
  const reply = laterMessages.slice(0, next < 0 ? undefined : next).at(-1);
  return reply && !reply.aborted && !reply.interrupted && !reply.error ? reply : undefined;
}
