import { loadFrame } from './frame.ts';
import { directionOf, locale } from './locale.ts';

const loaded = new Map<string, Promise<void>>();

/** Once; what could not be loaded is English, and is tried again at the next page. */
function once(part: string, load: () => Promise<void>): Promise<void> {
  const under = loaded.get(part) ?? load().catch(() => void loaded.delete(part));
  loaded.set(part, under);
  return under;
}

/** Loads what a page says in this visit's locale, before it is drawn. `inChat`: the frame's words are enough. */
export async function loadWords(inChat: boolean): Promise<void> {
  await once('frame', async () => {
    await loadFrame(locale);
    document.documentElement.lang = locale;
    document.documentElement.dir = directionOf(locale);
  });
  if (!inChat) await once('pages', async () => (await import('./pages.ts')).loadPages(locale));
}
