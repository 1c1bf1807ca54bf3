import { sha256 } from '#shared/sha256.ts';
import type { MessageRecord, Vault } from '../vault.ts';
import { KEEP_MS } from '../idempotency.ts';
import type { Completed, Place, RunRequest } from './deps.ts';

/** How far from its end a branch is searched for a message that was stored a moment ago. */
const MESSAGES = 100;

/**
 * Where the message of a call goes, unless an earlier try stored it, on this host or on one that is gone (decisions, "Frames and connection"): then its
 * answer, or the message to be answered anew where that try came to nothing. The message's id says whose it is, for it reaches every host with the message.
 */
export async function once(
  { messages, sessions }: Vault,
  request: RunRequest,
  key: string,
  at: number,
  place: (messageId: string) => Promise<Place>,
): Promise<Place | Completed> {
  const { idempotencyKey, principal, sessionId } = request;
  if (idempotencyKey === undefined) return place(crypto.randomUUID());
  const id = await messageIdOf(principal, key, idempotencyKey);
  const [user, session] = await Promise.all([messages.get(id), sessions.get(key)]);
  if (!user) return place(id);
  if (!session || at - user.timestamp > KEEP_MS) return place(crypto.randomUUID());
  const branch = await messages.branch(key, { limit: MESSAGES });
  const reply = answerTo(id, branch.messages);
  if (!reply?.usage || reply.runId === undefined) return { session, message: null, user };
  return { completed: true, sessionId, runId: reply.runId, messageId: reply.id, usage: reply.usage };
}

/** Whose an idempotency key is: a page that goes over from the bridge to its browser's own host is called otherwise there, and asks for the same. */
export const senderOf = (principal: string): string => (principal.startsWith('app:') ? 'app' : principal);

/** The id of the message that a call with an idempotency key stores in a session. */
export const messageIdOf = async (principal: string, key: string, idempotencyKey: string): Promise<string> =>
  (await sha256(JSON.stringify([senderOf(principal), key, idempotencyKey]))).slice(0, 32);

/** The whole reply to a message of the branch: what is said last before somebody asks again. */
export function answerTo(id: string, branch: readonly MessageRecord[]): MessageRecord | undefined {
  const at = branch.findIndex((message) => message.id === id);
  if (at < 0) return undefined;
  const below = branch.slice(at + 1);
  const next = below.findIndex(({ role }) => role === 'user');
  const reply = below.slice(0, next < 0 ? undefined : next).at(-1);
  return reply && !reply.aborted && !reply.interrupted && !reply.error ? reply : undefined;
}
