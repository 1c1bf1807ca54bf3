import { toStoredText } from './branch.ts';
import { getMessageText } from '../files/message-files.ts';
import { gateway } from '../connection/gateway-connection.svelte.ts';
import type { OutboxEntry } from './outbox-entries.svelte.ts';

/** Tolerated difference between the clocks of page and gateway, in milliseconds. */
const CLOCK_SLACK_MS = 5_000;

/** Whether the gateway stored a message at an earlier attempt whose response was lost. Rejects if the gateway cannot be reached. */
export async function isMessageStored({ agentId, sessionId, message, createdAt }: OutboxEntry): Promise<boolean> {
  const { messages } = await gateway.call('chat.history', { agentId, sessionId, limit: 50 });
  const storedText = toStoredText(message);
  for (const candidate of messages) {
    if (candidate.role !== 'user' || candidate.timestamp < createdAt - CLOCK_SLACK_MS) continue;
    const ids = { agentId, sessionId, messageId: candidate.id };
    const text = candidate.leftOut?.text ? (await gateway.call('chat.text', ids)).text : getMessageText(candidate);
    if (toStoredText(text) === storedText) return true;
  }
  return false;
}
