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
 * Asks for the end of a reply until one ends by it, or is seen to have ended: a host that has only just taken over, or that has no line to the one which writes
 * the reply, ends nothing yet, and the page may lose its connection on the way. Rejects with what the gateway refused, and when it has asked often enough.
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
