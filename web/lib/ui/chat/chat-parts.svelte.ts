import type { Problem } from '#lib/errors.ts';

/** What shows messages, and what there is beside them at times: half of the chat page's script, and a first message is written without it. */
class ChatParts {
  all = $state.raw<typeof import('./parts.ts')>();
  problem = $state.raw<Problem>();

  async load(): Promise<void> {
    try {
      this.problem = undefined;
      this.all ??= await import('./parts.ts');
    } catch {
      this.problem = { message: 'The part of the app that shows messages could not be loaded. Try again, or reload the page.', code: null };
    }
  }
}

export const chatParts = new ChatParts();
