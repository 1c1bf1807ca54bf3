import type { GatewayClient } from '#shared/client/client.ts';
import { toSessionKey } from '../storage/chat-records.ts';
import type { Vault } from '../storage/vault-interface.ts';
import { CLUB_PAGE } from './bird-club.ts';
import { type SeedChat, toChatRecords } from './seed-chat.ts';
import { createShowcaseChat, EXPORT_QUESTION, SHOWCASE_SESSION } from './showcase-chat.ts';

/** A chat whose last reply is really being written: it waits for an approval. */
export interface LiveChat {
  sessionId: string;
  message: string;
  /** Its earlier messages. */
  createHistory?: (now: number) => SeedChat;
}

/** The second one asks once the first is decided. */
export const LIVE_CHATS: readonly LiveChat[] = [
  { sessionId: SHOWCASE_SESSION, message: EXPORT_QUESTION, createHistory: createShowcaseChat },
  { sessionId: 'outside', message: `Read ${CLUB_PAGE.url} and update my checklist.` },
];

/** States of a request that no person has decided. */
const UNDECIDED = ['pending', 'expired', 'cancelled'];

/**
 * Prepares a chat whose request nobody has decided: it is new, its run ended with the worker, or the approval expired. Returns whether its
 * message is to be sent; false if the visitor has decided, continued or deleted the chat.
 */
export async function renewLiveChat(vault: Vault, { sessionId, createHistory }: LiveChat, now: number): Promise<boolean> {
  const key = toSessionKey('main', sessionId);
  const history = createHistory && toChatRecords(createHistory(now));
  const session = await vault.sessions.get(key);
  const approvals = (await vault.collection('approvals').list()).filter((each) => each.sessionId === sessionId);
  const commands = (await vault.collection('execRequests').list()).filter((each) => each.sessionId === sessionId);
  const requests = [...approvals, ...commands];
  if (session) {
    const questions = (await vault.messages.listAll(key)).filter(({ role }) => role === 'user').length;
    const asked = history?.messages.filter(({ role }) => role === 'user').length ?? 0;
    if (questions > asked + 1 || requests.some(({ status }) => !UNDECIDED.includes(status))) return false;
  } else if (requests.length > 0) return false;
  // Pending requests are left to the gateway, which cancels them.
  for (const { id, status } of approvals) if (status !== 'pending') await vault.collection('approvals').remove(id);
  for (const { requestId, status } of commands) if (status !== 'pending') await vault.collection('execRequests').remove(requestId);
  if (session) await vault.sessions.remove(key);
  if (history) await vault.sessions.add(history.session, history.messages);
  return true;
}

/** Resolves when the last reply ends, or the connection. A chat shows how its reply ended. */
export async function sendLiveChats(client: GatewayClient, chats: readonly LiveChat[]): Promise<void> {
  for (const { sessionId, message } of chats)
    await client.call('chat.send', { sessionId, message, idempotencyKey: crypto.randomUUID() }).catch(() => {});
}
