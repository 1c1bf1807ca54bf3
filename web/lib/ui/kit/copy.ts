import { toasts } from '#lib/state/toasts.svelte.ts';

/** Puts a text on the clipboard; true when it is there. Says so where it could not. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    toasts.show('The browser did not allow copying. Select the text and copy it by hand.');
    return false;
  }
}
