import { updated } from '$app/state';
import { m } from '#lib/i18n/later.ts';
import { newVersion } from './new-version.svelte.ts';
import { toasts } from './toasts.svelte.ts';

let told = false;

/** Tells, from now on, where a part of the app did not come since the app was replaced under this page: it never will, nor would the part that asks otherwise. */
export function tellMissedParts(): void {
  addEventListener('vite:preloadError', look);
}

const look = (): void => void tell();

async function tell(): Promise<void> {
  if (told) return;
  // Several may be missed at once.
  told = true;
  told = await updated.check();
  if (!told) return;
  toasts.show(m.shell_update_ready(), { sticky: true, action: { label: m.shell_update_reload(), run: () => void newVersion.reload() } });
}
