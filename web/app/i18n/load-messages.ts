import { loadFrameMessages } from './frame-messages.ts';
import { getDirection, locale } from './locale.ts';

/** Set of messages to load: the app's frame with an empty chat, the rest of a chat, or the other pages. Each includes those before it. */
export type MessageSet = 'frame' | 'later' | 'pages';

const loadedSets = new Map<MessageSet, Promise<void>>();

/** Loads a set once. If that fails, its messages stay English, and the next page tries again. */
function loadOnce(part: MessageSet, load: () => Promise<void>): Promise<void> {
  const loading = loadedSets.get(part) ?? load().catch(() => void loadedSets.delete(part));
  loadedSets.set(part, loading);
  return loading;
}

/** Loads the messages of a part of the app in the locale of this visit, before it is rendered. */
export async function loadMessages(part: MessageSet): Promise<void> {
  await loadOnce('frame', async () => {
    await loadFrameMessages(locale);
    document.documentElement.lang = locale;
    document.documentElement.dir = getDirection(locale);
  });
  if (part === 'frame') return;
  await loadOnce('later', async () => (await import('./chat-messages.ts')).loadChatMessages(locale));
  if (part === 'pages') await loadOnce('pages', async () => (await import('./page-messages.ts')).loadPageMessages(locale));
}
