import { loadFrame } from './frame.ts';
import { directionOf, locale } from './locale.ts';

/** Set of messages to load: the app's frame with an empty chat, the rest of a chat, or the other pages. Each includes those before it. */
export type Said = 'frame' | 'later' | 'pages';

const loaded = new Map<Said, Promise<void>>();

/** Once; what could not be loaded is English, and is tried again at the next page. */
function once(part: Said, load: () => Promise<void>): Promise<void> {
  const under = loaded.get(part) ?? load().catch(() => void loaded.delete(part));
  loaded.set(part, under);
  return under;
}

/** Loads what a part of the app says in this visit's locale, before it is drawn. */
export async function loadWords(part: Said): Promise<void> {
  await once('frame', async () => {
    await loadFrame(locale);
    document.documentElement.lang = locale;
    document.documentElement.dir = directionOf(locale);
  });
  if (part === 'frame') return;
  await once('later', async () => (await import('./later.ts')).loadLater(locale));
  if (part === 'pages') await once('pages', async () => (await import('./pages.ts')).loadPages(locale));
}
