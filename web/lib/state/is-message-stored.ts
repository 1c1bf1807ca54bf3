import { toStoredText } from '#lib/chat/branch.ts';
import { getMessageText } from '#lib/chat/message-files.ts';
import { gateway } from '#lib/gateway/gateway-connection.svelte.ts';
import type { OutboxEntry } from './outbox-entries.svelte.ts';

/** How far the clocks of page and gateway may differ when a message is looked for in the history, milliseconds. */
const CLOCK_SLACK_MS = 5_000;

/** Whether the gateway has stored a message by an earlier try, whose answer did not get through. Rejects where it cannot be asked. */
export async function isMessageStored({ agentId, sessionId, message, createdAt }: OutboxEntry): Promise<boolean> {
  const { messages } = await gateway.call('chat.history', { agentId, sessionId, limit: 50 });
  const storedText = toStoredText(message);
  for (const one of messages) {
    if (one.role !== 'user' || one.timestamp < createdAt - CLOCK_SLACK_MS) continue;
    const ids = { agentId, sessionId, messageId: one.id };
    const text = one.leftOut?.text ? (await gateway.call('chat.text', ids)).text : getMessageText(one);
    if (toStoredText(text) === storedText) return true;
  }
  return false;
}
