import { m } from '#lib/i18n/frame-messages.ts';
import { toasts } from '#lib/state/toasts.svelte.ts';

/** Puts a text on the clipboard; true when it is there. Says so where it could not. One without a letter takes nothing's place. */
export async function copyText(text: string | Promise<string>): Promise<boolean> {
  try {
    const words = await text;
    if (words === '') return false;
    await navigator.clipboard.writeText(words);
    return true;
  } catch {
    toasts.show(m.kit_copy_refused());
    return false;
  }
}
