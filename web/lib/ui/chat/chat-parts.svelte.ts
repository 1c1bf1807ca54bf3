import type { Problem } from '#lib/errors.ts';
import { m } from '#lib/i18n/frame.ts';
import { loadWords } from '#lib/i18n/load.ts';

/** Lazily loaded components for messages and occasional panels: half of the chat page's script, not needed to write a first message. */
class ChatParts {
  all = $state.raw<typeof import('./parts.ts')>();
  problem = $state.raw<Problem>();

  async load(): Promise<void> {
    try {
      this.problem = undefined;
      this.all ??= (await Promise.all([import('./parts.ts'), loadWords('later')]))[0];
    } catch {
      this.problem = { message: m.chat_list_not_loaded(), code: null };
    }
  }
}

export const chatParts = new ChatParts();
