import { updated } from '$app/state';
import { m } from '../i18n/messages.ts';
import { appUpdateGate } from './app-update-gate.svelte.ts';
import { toasts } from '#kit/toasts.svelte.ts';

let isNotified = false;

/** Shows a notice if a chunk fails to load because a new version replaced the app on the server: it stays missing until the page is reloaded. */
export function watchMissingChunks(): void {
  // The notice must not be missing itself.
  toasts.load();
  addEventListener('vite:preloadError', checkChunks);
}

const checkChunks = (): void => void notify();

async function notify(): Promise<void> {
  if (isNotified) return;
  // Several chunks may fail at the same time.
  isNotified = true;
  isNotified = await updated.check();
  if (!isNotified) return;
  toasts.show(m.shell_update_ready(), { sticky: true, action: { label: m.shell_update_reload(), run: () => void appUpdateGate.reload() } });
}
