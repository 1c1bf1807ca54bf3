import { isLost } from '#lib/errors.ts';
import { m } from '#lib/i18n/frame.ts';

const AGAIN_MS = 1_000;
const TRIES = 30;

export interface Stopping {
  /** Asks the gateway to end the reply; whether one ends by it. */
  abort(): Promise<boolean>;
  /** The reply is still seen to be written. */
  goesOn(): boolean;
}

/**
 * Requests the end of a reply until it has ended: a host that has just taken over, or has no connection to the one that writes the reply,
 * cannot end it yet, and the page may lose its connection in the meantime. Rejects with the gateway's error after the last attempt.
 */
export async function stopReply({ abort, goesOn }: Stopping): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    try {
      if (await abort()) return;
    } catch (error) {
      if (!isLost(error)) throw error;
    }
    if (!goesOn()) return;
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    if (!goesOn()) return;
  }
  throw new Error(m.chat_stop_unreached());
}
