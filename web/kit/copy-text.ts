import { m } from '#app/i18n/messages.ts';
import { toasts } from './toasts.svelte.ts';

/** Copies a text; resolves to whether it was copied, and reports a failure. An empty text does not replace the clipboard. */
export async function copyText(text: string | Promise<string>): Promise<boolean> {
  try {
    const resolvedText = await text;
    if (resolvedText === '') return false;
    await navigator.clipboard.writeText(resolvedText);
    return true;
  } catch {
    toasts.show(m.kit_copy_refused());
    return false;
  }
}
