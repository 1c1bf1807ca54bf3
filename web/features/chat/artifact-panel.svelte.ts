import { tick, untrack } from 'svelte';
import { page } from '$app/state';
import { m } from '#app/i18n/messages.ts';
import { withMessages } from '#app/i18n/load-messages.ts';
import type { ArtifactRequest } from '#app/markdown/artifact-opener.ts';
import { toProblem } from '#kit/problems.ts';
import { toasts } from '#kit/toasts.svelte.ts';
import type { Chat } from './chat.svelte.ts';

/** The panel beside a chat that shows an artifact. */
export class ArtifactPanel {
  request = $state.raw<ArtifactRequest>();
  /** Loaded with the first artifact. */
  Pane = $state.raw<typeof import('./ArtifactPane.svelte').default>();
  /** Whether the panel is about to be opened: it has its space from the start, so that the chat does not move. */
  isExpected = $state(page.state.opensArtifact === true);
  readonly #focusComposer: () => void;
  #isNewestOpened = false;

  /** Must be created in a component. `chat`: null for a new chat. */
  constructor(chat: () => Chat | null, focusComposer: () => void) {
    this.#focusComposer = focusComposer;
    // The panel belongs to the chat in which it was opened.
    $effect(() => {
      void chat();
      this.request = undefined;
    });
    // A history entry can ask for the newest artifact.
    $effect(() => {
      const shown = chat();
      if (this.#isNewestOpened || !page.state.opensArtifact || !shown || shown.items.length === 0) return;
      this.#isNewestOpened = true;
      untrack(() => void this.#openNewest(shown).finally(() => (this.isExpected = false)));
    });
  }

  async open(request: ArtifactRequest): Promise<void> {
    try {
      this.Pane ??= (await withMessages(import('./ArtifactPane.svelte'))).default;
      this.request = request;
    } catch (error) {
      toasts.show(toProblem(error, m.chat_doing_open_preview()).message);
    }
  }

  async close(): Promise<void> {
    const from = this.request?.from;
    this.request = undefined;
    await tick();
    if (from?.isConnected) from.focus();
    else this.#focusComposer();
  }

  async #openNewest({ items }: Chat): Promise<void> {
    const { findNewestArtifact } = await import('./newest-artifact.ts');
    const newest = findNewestArtifact(items);
    if (!newest) return;
    await this.open(newest);
    this.#focusComposer();
  }
}
