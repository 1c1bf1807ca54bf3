import type { Problem } from '#lib/errors.ts';
import { m } from '#lib/i18n/frame.ts';
import { loadWords } from '#lib/i18n/load.ts';

/** What shows messages, and what there is beside them at times: half of the chat page's script, and a first message is written without it. */
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
