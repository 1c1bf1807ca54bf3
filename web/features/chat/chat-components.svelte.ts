import type { Problem } from '#kit/problems.ts';
import { m } from '#app/i18n/messages.ts';
import { withMessages } from '#app/i18n/load-messages.ts';

/** Lazily loaded components for messages and occasional panels: half of the chat page's script, not needed to write a first message. */
class LazyChatComponents {
  all = $state.raw<typeof import('./lazy-chat-components.ts')>();
  problem = $state.raw<Problem>();

  async load(): Promise<void> {
    try {
      this.problem = undefined;
      this.all ??= await withMessages(import('./lazy-chat-components.ts'));
    } catch {
      this.problem = { message: m.chat_list_not_loaded(), code: null };
    }
  }
}

export const chatComponents = new LazyChatComponents();
