import { isolatePlaceholders } from './isolate.ts';
import { getDirection, type Locale, locale } from './locale.ts';
import { type AreaMessages, loadedAreas } from './message-areas.ts';

/** Loads a language's messages of an area. */
type AreaLoader = (area: string) => Promise<{ default: AreaMessages }>;

const LOCALE_LOADERS: Readonly<Record<Exclude<Locale, 'en'>, () => Promise<{ default: AreaLoader }>>> = {
  ar: () => import('#messages/locales/ar.js'),
  de: () => import('#messages/locales/de.js'),
  es: () => import('#messages/locales/es.js'),
  fr: () => import('#messages/locales/fr.js'),
  it: () => import('#messages/locales/it.js'),
  ja: () => import('#messages/locales/ja.js'),
  pl: () => import('#messages/locales/pl.js'),
  'pt-BR': () => import('#messages/locales/pt-BR.js'),
  ru: () => import('#messages/locales/ru.js'),
  'zh-CN': () => import('#messages/locales/zh-CN.js'),
};

const translations = new Map<string, Promise<void>>();

async function translateArea(tag: Exclude<Locale, 'en'>, area: string): Promise<void> {
  try {
    const { default: loadArea } = await LOCALE_LOADERS[tag]();
    const { default: messages } = await loadArea(area);
    const direction = getDirection(tag);
    loadedAreas.get(area)?.(direction === 'rtl' ? isolatePlaceholders(messages) : messages);
    document.documentElement.lang = tag;
    document.documentElement.dir = direction;
  } catch {
    translations.delete(area);
  }
}

/**
 * Loads the messages of all code that is loaded, in the language of this visit; call it before they are shown. If that fails, they stay
 * English, and the next call tries again.
 */
export async function loadMessages(): Promise<void> {
  if (locale === 'en') return;
  for (const area of loadedAreas.keys()) if (!translations.has(area)) translations.set(area, translateArea(locale, area));
  await Promise.all(translations.values());
}

/** Adds the messages of a module to its import, as in `withMessages(import('./Dialog.svelte'))`. */
export async function withMessages<T>(loading: Promise<T>): Promise<T> {
  const module = await loading;
  await loadMessages();
  return module;
}
