import { isConnectionLost } from '#lib/problems.ts';
import { m } from '#lib/i18n/frame-messages.ts';

const RETRY_MS = 1_000;
const MAX_TRIES = 30;

export interface StopReplyOptions {
  /** Asks the gateway to end the reply; whether one ends by it. */
  abort(): Promise<boolean>;
  /** The reply is still seen to be written. */
  isRunning(): boolean;
}

/**
 * Requests the end of a reply until it has ended: a host that has just taken over, or has no connection to the one that writes the reply,
 * cannot end it yet, and the page may lose its connection in the meantime. Rejects with the gateway's error after the last attempt.
 */
export async function stopReply({ abort, isRunning }: StopReplyOptions): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
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
