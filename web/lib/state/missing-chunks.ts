import { updated } from '$app/state';
import { m } from '#lib/i18n/chat-messages.ts';
import { appUpdateGate } from './app-update-gate.svelte.ts';
import { toasts } from './toasts.svelte.ts';

let isNotified = false;

/** Tells, from now on, where a part of the app did not come since the app was replaced under this page: it never will, nor would the part that asks otherwise. */
export function watchMissingChunks(): void {
  addEventListener('vite:preloadError', checkChunks);
}

const checkChunks = (): void => void notify();

async function notify(): Promise<void> {
  if (isNotified) return;
  // Several may be missed at once.
  isNotified = true;
  isNotified = await updated.check();
  if (!isNotified) return;
  toasts.show(m.shell_update_ready(), { sticky: true, action: { label: m.shell_update_reload(), run: () => void appUpdateGate.reload() } });
}
