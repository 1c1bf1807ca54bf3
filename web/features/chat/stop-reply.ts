import { isConnectionLost } from '#kit/problems.ts';
import { m } from '#app/i18n/messages.ts';

const RETRY_MS = 1_000;
const MAX_ATTEMPTS = 30;

interface StopReplyOptions {
  /** Requests the gateway to end the reply. Resolves to whether it ended one. */
  abort(): Promise<boolean>;
  /** Whether the reply is still running. */
  isRunning(): boolean;
}

/**
 * Requests the end of a reply until it has ended: a host that has just taken over, or has no connection to the one that writes the reply,
 * cannot end it yet, and the page may lose its connection in the meantime. Rejects with the gateway's error after the last attempt.
 */
export async function stopReply({ abort, isRunning }: StopReplyOptions): Promise<void> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    try {
      if (await abort()) return;
    } catch (error) {
      if (!isConnectionLost(error)) throw error;
    }
    if (!isRunning()) return;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    if (!isRunning()) return;
  }
  throw new Error(m.chat_stop_unreached());
}
